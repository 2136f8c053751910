import { renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, RunningRmq, startConsumer } from '../helpers/consumer.ts'
import { joinGroup } from '../helpers/member.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ key: 'k', body: `m${i}` }))

describe('an error in a stream of input ends the command, although its input goes on', () => {
  it.each([
    ['a line that is no JSON', '{"body":', /line 2\b/],
    ['a body that the topic does not take', JSON.stringify({ body: 'x'.repeat(100) }), /100/],
  ])('%s', async (_name, line, words) => {
    const { db, run, records } = shop()
    await run(['topics', 'create', 't', '--queues', '1', '--max-body', '50'])
    const send = new RunningRmq(db, ['send', 't', '--input', 'ndjson'])
    send.child.stdin?.write('{"body":"a"}\n')
    await expect.poll(async () => (await records('t')).length, PATIENCE).toBe(1)
    // stdin stays open: nobody says that this was all.
    send.child.stdin?.write(`${line}\n`)
    expect(await send.ended).toEqual([6, null])
    expect(send.stderr).toMatch(words)
    expect(await records('t')).toHaveLength(1)
  })

  it('a store that is gone', async () => {
    const { db, run, records } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    const send = new RunningRmq(db, ['send', 't'])
    send.child.stdin?.write('a\n')
    await expect.poll(async () => (await records('t')).length, PATIENCE).toBe(1)
    renameSync(db, `${db}.moved`)
    // The place is looked at after each pause of a second.
    await sleep(1100)
    send.child.stdin?.write('b\n')
    const [status] = await send.ended
    expect(status).not.toBe(0)
    expect(send.stderr).toMatch(/moved|removed|gone|replaced|no longer/i)
    expect(send.stdout.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('consume -e reads what is there and stops', () => {
  it('at once on an empty topic', async () => {
    const { db, run } = shop()
    await seed(db, 't', 8, [])
    const { status, stdout } = await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
    expect([status, stdout]).toEqual([0, ''])
  })

  it('at the end that it saw at its start, although more comes all the time', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(50))
    const producer = new RunningRmq(db, ['send', 't', 'more', '-c', '100000', '--rate', '1000/s', '-q'])
    await expect
      .poll(async () => (await run(['peek', 't', '-o', '50', '-c', '1'])).stdout, PATIENCE)
      .toBe('more\n')
    const one = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%o\\n'])
    expect(one.status).toBe(0)
    const offsets = one.stdout.trimEnd().split('\n').map(Number)
    expect(offsets).toEqual(offsets.map((_, i) => i))
    expect(offsets.length).toBeGreaterThan(50)
    const two = await run(['consume', 't', '-g', 'g', '--orderly', '-c', '1', '-f', '%o'])
    expect(Number(two.stdout)).toBe(offsets.length)
    expect(producer.child.exitCode).toBeNull()
  })

  it('ends with its own share while another member keeps the rest', async () => {
    const { db } = shop()
    await seed(db, 't', 2, [
      { body: 'free', queueId: 0 },
      { body: 'held', queueId: 1 },
    ])
    await using broker = await openBroker({ db })
    // A member with one of the two queues, that goes on when the other one has ended.
    await joinGroup(broker, { group: 'g', clientId: 'z', topic: 't' })
    const mq = (await broker.subscribeQueues('t')).find(({ queueId }) => queueId === 0)
    if (mq) await broker.unlockBatch('g', 'z', [mq])
    const consumer = startConsumer(db, 't', '--client-id', 'a', '-e')
    await consumer.prints('free\n')
    expect(await consumer.ended).toEqual([0, null])
    expect(consumer.stdout).toBe('free\n')
    expect((await broker.listLocks()).map(({ clientId }) => clientId)).toEqual(['z'])
  })

  it('a count that is not there ends with the idle time', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(3))
    const args = ['consume', 't', '-g', 'g', '--orderly', '-c', '5', '--idle-timeout', '500ms']
    const { status, stdout, stderr } = await run(args)
    expect([status, stdout]).toEqual([0, 'm0\nm1\nm2\n'])
    expect(stderr).toMatch(/consumed 3 in /)
  })
})
