#!/usr/bin/env -S npx tsx
import { fileURLToPath } from 'node:url'

// Runs the sources: no build, no manifest. Slower to start, nothing else differs.
const { main } = await import('../src/main.ts')
await main({
  root: fileURLToPath(new URL('..', import.meta.url)),
  argv: process.argv.slice(2),
  sources: true,
})
