// Runs the rmq command of this package, as a shell would.

import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { fileURLToPath } from 'node:url'

const RUN = fileURLToPath(new URL('../bin/run.js', import.meta.url))

/** Starts `rmq ARGS` on a database. Answers the process; `ended` resolves with how it ended. */
export function start(db, args, stdio, options = {}) {
  const env = { ...process.env, RMQ_DB: db }
  const child = spawn(process.execPath, [RUN, ...args], { ...options, env, stdio })
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  return { child, ended }
}

/** Runs `rmq ARGS` to its end and answers its stdout; fails loudly when rmq does. */
export async function rmq(db, args, inputPath) {
  const { child, ended } = start(db, args, ['pipe', 'pipe', 'pipe'])
  const output = Promise.all([textOf(child.stdout), textOf(child.stderr)])
  if (inputPath === undefined) child.stdin.end()
  else createReadStream(inputPath).pipe(child.stdin)
  const [{ code }, [stdout, stderr]] = await Promise.all([ended, output])
  if (code !== 0) throw new Error(`rmq ${args.join(' ')} ended with ${code}\n${stdout}${stderr}`)
  return { stdout, stderr }
}

/** The same, for commands that answer with one JSON document. */
export async function rmqJson(db, args) {
  return JSON.parse((await rmq(db, [...args, '--json'])).stdout)
}

/** One word of a shell command. */
export function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}

async function textOf(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
