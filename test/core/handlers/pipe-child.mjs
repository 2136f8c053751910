import { createInterface } from 'node:readline'

/** A piped handler whose messages say what it shall do. */
const say = (line) => process.stdout.write(`${line}\n`)
const answer = (id, status, more = {}) => say(JSON.stringify({ id, status, ...more }))
const held = []

const actions = {
  status: (id, status) => answer(id, status),
  failure: (id, json) => say(JSON.stringify({ id, ...JSON.parse(json) })),
  echo: (id, _text, record) => answer(id, 'retry', { error: JSON.stringify(record) }),
  env: (id, name) => answer(id, 'retry', { error: process.env[name] }),
  hold: (id) => held.push(id),
  flush: (id) => {
    held.push(id)
    for (const each of held.splice(0).reverse()) answer(each, 'success')
  },
  silent: () => {},
  noise: (id, line) => {
    say(line)
    answer(id, 'success')
  },
  raw: (_id, text) => process.stdout.write(text),
  crlf: (id) => process.stdout.write(`${JSON.stringify({ id, status: 'success' })}\r\n`),
  bytes: (id, text) => {
    const line = Buffer.from(`${JSON.stringify({ id, status: 'retry', error: text })}\n`)
    const next = (at) => {
      process.stdout.write(line.subarray(at, at + 1))
      if (at + 1 < line.length) setImmediate(() => next(at + 1))
    }
    next(0)
  },
  long: (id, size) => {
    say('x'.repeat(Number(size)))
    answer(id, 'success')
  },
  stderr: (id, text) => {
    process.stderr.write(`${text}\n`)
    answer(id, 'success')
  },
  die: (_id, text) => {
    process.stderr.write(text)
    process.exitCode = 3
    process.stdin.destroy()
  },
  exit: (_id, code) => process.exit(Number(code)),
  last: (id) => {
    answer(id, 'success')
    process.exit(0)
  },
  kill: (_id, signal) => process.kill(process.pid, signal),
  pid: (id) => answer(id, 'retry', { error: String(process.pid) }),
}

createInterface({ input: process.stdin, crlfDelay: 0 }).on('line', (line) => {
  const record = JSON.parse(line)
  const [action, ...rest] = record.body.split(' ')
  actions[action](record.msgId, rest.join(' '), record)
})
