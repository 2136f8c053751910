import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { startRmq } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'

it('stops between two messages, says how far it came, and goes on when it is run again', async () => {
  const { db, run } = shop()
  await run(['topics', 'create', 't', '--queues', '1'])
  await run(['send', 't', '--key', 'k', '-q'], { input: 'x\n'.repeat(60) })
  const handler = `sed -u 's/^{"msgId":\\("[0-9A-F]*"\\).*/{"id":\\1,"status":"dead-letter"}/'`
  await run(['consume', 't', '-g', 'g', '--orderly', '-e', '--pipe', handler])
  const child = startRmq(['dlq', 'replay', '-g', 'g', '--all', '--rate', '20/s', '--yes'], { db })
  onTestFinished(() => void child.kill('SIGKILL'))
  const stdout = text(child.stdout as NodeJS.ReadableStream)
  const stderr = text(child.stderr as NodeJS.ReadableStream)
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([130, null])
  const done = (await stdout).trimEnd().split('\n').length
  expect(await stderr).toContain(`matched 60: replayed ${done}, skipped 0, failed 0, remaining ${60 - done}`)
  const rest = JSON.parse((await run(['dlq', 'replay', '-g', 'g', '--all', '--yes', '--json'])).stdout)
  expect(rest.summary).toMatchObject({ matched: 60 - done, replayed: 60 - done, remaining: 0 })
  const again = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%o\\n'])
  expect(again.stdout).toBe(Array.from({ length: 60 }, (_, i) => `${i}\n`).join(''))
})
