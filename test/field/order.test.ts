import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, startConsumer, untilMembers, untilOwner } from '../helpers/consumer.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const keyed = (...bodies: string[]) => bodies.map((body) => ({ key: 'k', body }))

describe('a head that fails', () => {
  it('is tried again in place, before what follows it', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, keyed('A', 'B', 'C'))
    const log = new HandlerLog()
    const failTwice = `[ "$body" != A ] || [ "$(grep -c start ${log.folder}/handler.log)" -ge 3 ]`
    const retry = ['--max-reconsume', '3', '--suspend', '10ms']
    await run(['consume', 't', '-g', 'g', '--orderly', '-e', ...retry, '--exec', log.command(failTwice)])
    expect(log.bodies()).toEqual(['A', 'A', 'A', 'B', 'C'])
  })

  it('is never committed over, and comes first again after kill -9, its attempts kept', async () => {
    const { db } = shop()
    await seed(db, 't', 1, keyed('1', '2', '3'))
    await using broker = await openBroker({ db })
    const log = new HandlerLog()
    const start = () =>
      startConsumer(
        db,
        't',
        '--suspend',
        '150ms',
        '--suspend-max',
        '150ms',
        '--exec',
        log.command('[ "$body" != 1 ]'),
      )
    const committed = new Set<number | null>()
    const untilRuns = async (count: number) => {
      while (log.starts().length < count) {
        for (const queue of await broker.progress('g').catch(() => [])) committed.add(queue.committedOffset)
        await sleep(50)
      }
    }
    const first = start()
    await untilRuns(3)
    first.signal('SIGKILL')
    const before = log.starts().length
    start()
    await untilRuns(before + 2)
    expect(new Set(log.bodies())).toEqual(new Set(['1']))
    expect([...committed].filter((offset) => (offset ?? 0) > 0)).toEqual([])
    const resumed = log.starts()[before]
    expect(resumed?.attempt).toBeGreaterThanOrEqual(before)
  })
})

describe('members of a group', () => {
  it('share the queues while they come, are killed and stop: no queue is served twice or by nobody', async () => {
    const { db, run } = shop()
    const QUEUES = 8
    const COUNT = 160
    await seed(
      db,
      't',
      QUEUES,
      Array.from({ length: COUNT }, (_, i) => ({ key: `k${i}`, body: `m${i}`, queueId: i % QUEUES })),
    )
    await using broker = await openBroker({ db })
    const log = new HandlerLog()
    const start = (id: string) =>
      startConsumer(db, 't', '--client-id', id, '--exec', log.command('sleep 0.1', id))
    const [a, b] = ['a', 'b', 'c'].map(start)
    await expect.poll(() => new Set(log.starts().map(({ who }) => who)).size, PATIENCE).toBe(3)
    start('d')
    await expect.poll(() => log.starts('d').length, PATIENCE).toBeGreaterThan(0)
    a?.signal('SIGKILL')
    b?.signal('SIGTERM')
    const owners = async () =>
      (await broker.listLocks({ group: 'g' })).map(({ clientId, state }) => `${clientId} ${state}`)
    await expect
      .poll(async () => (await owners()).sort(), PATIENCE)
      .toEqual([...Array(4).fill('c held'), ...Array(4).fill('d held')])
    const lag = async () => (await broker.progress('g')).reduce((sum, queue) => sum + queue.lag, 0)
    await expect.poll(lag, { timeout: 20_000, interval: 100 }).toBe(0)
    expect(log.overlaps()).toEqual([])
    for (let queueId = 0; queueId < QUEUES; queueId++) {
      const offsets = log.starts().flatMap((note) => (note.queueId === queueId ? [note.offset] : []))
      // At most the one that the killed member had in work comes again, at its place.
      const firsts = offsets.filter((offset, i) => offset !== offsets[i - 1])
      expect(firsts).toEqual(Array.from({ length: COUNT / QUEUES }, (_, i) => i))
      expect(offsets.length - firsts.length).toBeLessThanOrEqual(1)
    }
    expect(JSON.parse((await run(['verify', '--json'])).stdout).violations).toEqual([])
  })

  it('get nothing of a key while an earlier message of it is in work; other queues flow', async () => {
    const { db, run } = shop()
    await seed(db, 't', 2, [])
    await using broker = await openBroker({ db })
    const log = new HandlerLog()
    const work = '[ "$body" != 1 ] || sleep 3'
    const send = (body: string, queueId: number) => run(['send', 't', body, '-p', String(queueId), '-q'])
    startConsumer(db, 't', '--client-id', 'a', '--exec', log.command(work, 'a'))
    await untilOwner(broker, 'a')
    await send('1', 0)
    await expect.poll(() => log.bodies(), PATIENCE).toEqual(['1'])
    startConsumer(db, 't', '--client-id', 'b', '--exec', log.command(work, 'b'))
    await untilMembers(broker, ['a', 'b'])
    await Promise.all([send('other', 1), send('2', 0)])
    await expect.poll(() => log.bodies().length, PATIENCE).toBe(3)
    expect(log.notes().map(({ what, who, body }) => `${who} ${what} ${body}`)).toEqual([
      'a start 1',
      'b start other',
      'b end other',
      'a end 1',
      'a start 2',
      ...(log.notes().length > 5 ? ['a end 2'] : []),
    ])
  })
})

describe('batches', () => {
  it('that fail or are cut by kill -9 come again from their head, each an ascending run at the committed offset', async () => {
    const { db } = shop()
    await seed(db, 't', 1, [])
    await using broker = await openBroker({ db })
    const log = new HandlerLog()
    const once = (name: string) => `mkdir ${log.folder}/${name} 2>/dev/null`
    const work = `case $RMQ_QUEUE_OFFSET in
5) ${once('f1')} && exit 1; ${once('f2')} && exit 1;;
10) ${once('killed')} && kill -9 $PPID;;
esac; exit 0`
    const start = (id: string) =>
      startConsumer(
        db,
        't',
        '--client-id',
        id,
        '--batch',
        '5',
        '--suspend',
        '10ms',
        '--exec',
        log.command(work, id),
      )
    start('a')
    await untilOwner(broker, 'a')
    start('b')
    await untilMembers(broker, ['a', 'b'])
    const messages = Array.from({ length: 20 }, (_, i) => ({
      topic: 't',
      key: 'k',
      body: Buffer.from(`m${i}`),
    }))
    const [mq] = await broker.publishQueues('t')
    if (mq) await broker.send([{ mq, messages }])
    await expect.poll(async () => (await broker.progress('g'))[0]?.lag, PATIENCE).toBe(0)
    let committed = 0
    const failing = [5, 5, 10]
    for (const { body } of log.starts()) {
      const offsets = [...body.matchAll(/"queueOffset":(\d+)/g)].map(([, offset]) => Number(offset))
      expect(offsets).toEqual(offsets.map((_, i) => committed + i))
      const failed = failing.indexOf(committed)
      if (failed >= 0) failing.splice(failed, 1)
      else committed += offsets.length
    }
    expect([committed, failing]).toEqual([20, []])
    expect(log.starts().some(({ who }) => who === 'b')).toBe(true)
  })
})
