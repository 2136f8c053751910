import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openBroker, Producer, verify } from '../../src/core/index.ts'
import { PATIENCE, RunningRmq, untilMembers, untilOwner } from '../helpers/consumer.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { tempFolder } from '../helpers/temp.ts'
import { waiting } from './crew/samples.ts'

/** What the frozen member's handler comes to, too late: success, failure, rejection. */
it.each([
  ['success', 'exit 0'],
  ['failure, to be sent back', 'exit 1'],
  ['rejection', 'exit 65'],
])('a concurrent member that slept through its lease: its late %s is refused', async (_what, work) => {
  const db = join(tempFolder(), 'rmq.db')
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 1 })
  const log = new HandlerLog()
  const start = (id: string, handler: string) => {
    const flags = ['--client-id', id, '--lock-ttl', '2s', '--suspend', '10ms', '--threads', '4']
    const member = new RunningRmq(db, [
      'consume',
      't',
      '-g',
      'g',
      ...flags,
      '--exec',
      log.command(handler, id),
    ])
    member.child.stdin?.end()
    return member
  }
  const frozen = start('a', `sleep 0.5; ${work}`)
  await untilOwner(broker, 'a')
  start('b', 'exit 0')
  await untilMembers(broker, ['a', 'b'])
  await expect.poll(async () => (await broker.listLocks({ group: 'g', topic: 't' }))[0]?.clientId).toBe('a')
  const bodies = ['m0', 'm1', 'm2']
  await new Producer(broker).sendBatch(bodies.map((body) => ({ topic: 't', key: 'k', body })))
  await expect.poll(() => log.starts('a').length, PATIENCE).toBe(3)
  frozen.signal('SIGSTOP')
  const offset = async () => (await broker.committedOffsets('g', 't'))[0]?.offset
  await expect.poll(offset, PATIENCE).toBe(3)
  frozen.signal('SIGCONT')
  await frozen.says(/the lock of t queue 0 went to another consumer/)
  await expect.poll(() => waiting(broker), PATIENCE).toBe(0)
  // Nothing of it came again, and nothing died of it.
  expect(log.starts('a')).toHaveLength(3)
  expect(
    log
      .starts('b')
      .map(({ body, attempt }) => `${body} ${attempt}`)
      .sort(),
  ).toEqual(['m0 2', 'm1 2', 'm2 2'])
  expect((await broker.deadLetters.list('g', {}, { limit: 10 })).deadLetters).toEqual([])
  expect((await verify(broker)).violations).toEqual([])
})
