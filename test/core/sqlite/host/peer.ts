import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { systemHost } from '../../../../src/core/sqlite/host/system-host.ts'
import { systemRuntime } from '../../../../src/core/system-runtime.ts'

const [dbPath = '', job = ''] = process.argv.slice(2)
const host = systemHost(dbPath, systemRuntime)
const say = (text: string) => process.stdout.write(`${text}\n`)
const livenessFile = join(`${dbPath}.clients`, 'peer')

say(JSON.stringify(host.process))

if (job === 'hold') {
  const handle = host.liveness.hold(livenessFile)
  say(handle === undefined ? 'refused' : 'held')
  createInterface({ input: process.stdin }).on('line', () => {
    handle?.release()
    say('released')
  })
}

if (job === 'hold-and-collect') {
  // The handle is dropped on purpose: nothing here refers to the lock any more.
  host.liveness.hold(livenessFile)
  const churn = () => {
    for (let i = 0; i < 50; i++) Buffer.alloc(1024 * 1024).toString('latin1')
    globalThis.gc?.()
  }
  for (let round = 0; round < 5; round++) {
    churn()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  say('collected')
  process.stdin.resume()
}

if (job === 'touch') {
  createInterface({ input: process.stdin }).on('line', () => {
    host.wakeUp.touch()
    say('touched')
  })
}

if (job === 'idle') process.stdin.resume()
