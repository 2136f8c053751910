#!/usr/bin/env node
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
try {
  const { main } = await import('../dist/main.js')
  await main({ root, argv: process.argv.slice(2) })
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
  console.error(`rmq: it is not built: ${error.message}. Run "npm run build" in ${root}`)
  process.exitCode = 1
}
