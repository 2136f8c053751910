import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ReplayOptions, replayDeadLetters } from '../../../src/core/ops/replay.ts'
import type { ReplayResult, ReplaySummary } from '../../../src/core/ops/replay-result.ts'
import { Graveyard } from './graveyard.ts'

const GROUP = 'mailer'
/** More than a page of the replay. */
const MANY = Array.from({ length: 130 }, (_, i) => `k${i % 7}`)

let yard: Graveyard
beforeEach(async () => {
  yard = await Graveyard.open()
})
afterEach(() => yard.remove())

async function replay(
  options: Partial<ReplayOptions>,
): Promise<{ summary: ReplaySummary; results: ReplayResult[] }> {
  const results: ReplayResult[] = []
  const summary = await replayDeadLetters(yard.broker, {
    group: GROUP,
    filter: {},
    onResult: (result) => results.push(result),
    ...options,
  })
  const { matched, replayed, skipped, failed, remaining } = summary
  expect(matched).toBe(replayed + skipped + failed + remaining)
  return { summary, results }
}

async function laneOffsets(topic: string): Promise<number[][]> {
  const queues = await yard.broker.subscribeQueues(topic)
  return Promise.all(
    queues.map(async (mq) => (await yard.lane(GROUP, mq)).map(({ queueOffset }) => queueOffset)),
  )
}

describe('a replay of all', () => {
  it('brings every dead letter back to its queue, in the original order', async () => {
    const messages = await yard.send('orders', MANY)
    // Dead in another order than they were stored in.
    await yard.bury(GROUP, messages.toReversed())
    const { summary, results } = await replay({ all: true })
    expect(summary).toEqual({
      matched: 130,
      replayed: 130,
      skipped: 0,
      failed: 0,
      remaining: 0,
      truncated: false,
      interrupted: false,
    })
    expect(results.map(({ msgId }) => msgId)).toEqual(messages.map(({ msgId }) => msgId))
    const expected = new Map<number, number[]>()
    for (const { queueId, queueOffset } of messages) {
      expected.set(queueId, [...(expected.get(queueId) ?? []), queueOffset])
    }
    expect(await laneOffsets('orders')).toEqual(Array.from({ length: 8 }, (_, id) => expected.get(id) ?? []))
    expect(await yard.deadCount(GROUP)).toBe(0)
  })

  it('gives each dead letter to one of two replays at once', async () => {
    await yard.bury(GROUP, await yard.send('orders', MANY))
    const both = await Promise.all([replay({ all: true }), replay({ all: true })])
    const replayed = both.flatMap(({ results }) => results.filter(({ status }) => status === 'replayed'))
    expect(new Set(replayed.map(({ msgId }) => msgId)).size).toBe(130)
    expect(replayed).toHaveLength(130)
    expect((await laneOffsets('orders')).flat()).toHaveLength(130)
  })

  it('does not replay again what dies again meanwhile', async () => {
    const messages = await yard.send('orders', MANY)
    await yard.bury(GROUP, messages)
    const seen: string[] = []
    let again: Promise<unknown> = Promise.resolve()
    await replay({
      all: true,
      onResult: ({ msgId }) => {
        seen.push(msgId)
        if (seen.length > 1) return
        // The first page is in the lanes by now; its messages fail again while the rest is replayed.
        const mq = yard.queue('orders', messages[0]?.queueId ?? 0)
        again = yard.lane(GROUP, mq).then((waiting) => yard.bury(GROUP, waiting))
      },
    })
    await again
    expect(seen).toHaveLength(130)
    expect(new Set(seen).size).toBe(130)
    expect(await yard.deadCount(GROUP)).toBeGreaterThan(0)
  })

  it('has nothing to do where nothing is dead', async () => {
    await yard.bury(GROUP, [])
    const { summary, results } = await replay({ all: true })
    expect(summary.matched).toBe(0)
    expect(results).toEqual([])
  })
})

describe('a replay that is bounded', () => {
  it('stops at the limit and goes on from there the next time', async () => {
    const messages = await yard.send('orders', MANY)
    await yard.bury(GROUP, messages)
    const first = await replay({ all: true, limit: 60 })
    expect(first.summary).toMatchObject({ replayed: 60, remaining: 70, truncated: true, interrupted: false })
    const second = await replay({ all: true, limit: 70 })
    expect(second.summary).toMatchObject({ replayed: 70, remaining: 0, truncated: false })
    expect([...first.results, ...second.results].map(({ msgId }) => msgId)).toEqual(
      messages.map(({ msgId }) => msgId),
    )
  })

  it('stops between two messages when it is aborted, and says what remains', async () => {
    await yard.bury(GROUP, await yard.send('orders', MANY))
    const stop = new AbortController()
    const done: string[] = []
    const { summary } = await replay({
      all: true,
      signal: stop.signal,
      ratePerSecond: 10_000,
      onResult: ({ msgId }) => {
        if (done.push(msgId) === 55) stop.abort()
      },
    })
    expect(summary).toMatchObject({ replayed: 55, remaining: 75, interrupted: true, truncated: false })
    expect(await yard.deadCount(GROUP)).toBe(75)
    expect((await replay({ all: true })).summary.replayed).toBe(75)
  })

  it('leaves out what was replayed often enough', async () => {
    const [first, second] = await yard.send('orders', ['a', 'a'])
    if (!first || !second) throw new Error('two were sent')
    await yard.bury(GROUP, [first, second])
    await replay({ filter: { msgIds: [first.msgId] } })
    const mq = yard.queue('orders', first.queueId)
    await yard.bury(GROUP, await yard.lane(GROUP, mq))
    const { results, summary } = await replay({ all: true, maxReplays: 1 })
    expect(results.map(({ status }) => status)).toEqual(['skipped', 'replayed'])
    expect(results[0]?.reason).toContain('replayed 1 times')
    expect(summary).toMatchObject({ replayed: 1, skipped: 1 })
  })

  it('does not let a skipped head use up the limit', async () => {
    const [first, second] = await yard.send('orders', ['a', 'a'])
    if (!first || !second) throw new Error('two were sent')
    await yard.bury(GROUP, [first, second])
    await replay({ filter: { msgIds: [first.msgId] } })
    await yard.bury(GROUP, await yard.lane(GROUP, yard.queue('orders', first.queueId)))
    const { results } = await replay({ all: true, maxReplays: 1, limit: 1 })
    expect(results.map(({ status }) => status)).toEqual(['skipped', 'replayed'])
  })
})

describe('a replay of chosen ids', () => {
  it('says of each id that is not there what became of it', async () => {
    const [first, second] = await yard.send('orders', ['a', 'b'])
    if (!first || !second) throw new Error('two were sent')
    await yard.bury(GROUP, [first, second])
    await replay({ filter: { msgIds: [second.msgId] } })
    const unknown = '0'.repeat(32)
    const { results, summary } = await replay({
      filter: { msgIds: [first.msgId.toLowerCase(), second.msgId, unknown] },
    })
    expect(results).toEqual([
      expect.objectContaining({ msgId: first.msgId, status: 'replayed', reason: null }),
      expect.objectContaining({
        msgId: second.msgId,
        status: 'skipped',
        reason: expect.stringContaining('already'),
      }),
      expect.objectContaining({ msgId: unknown, status: 'failed', reason: 'not found', topic: null }),
    ])
    expect(summary).toMatchObject({ matched: 3, replayed: 1, skipped: 1, failed: 1 })
  })

  it('says when another filter leaves an id out', async () => {
    const [first] = await yard.send('orders', ['a'])
    if (!first) throw new Error('one was sent')
    await yard.bury(GROUP, [first])
    const { results } = await replay({ filter: { msgIds: [first.msgId], topic: 'invoices' } })
    expect(results).toEqual([
      expect.objectContaining({ status: 'skipped', reason: 'does not match the other filters' }),
    ])
    expect(await yard.deadCount(GROUP)).toBe(1)
  })
})

describe('a dry run', () => {
  it('names the target of each message and writes nothing', async () => {
    const messages = [...(await yard.send('orders', ['a', 'b'])), ...(await yard.send('invoices', ['a']))]
    await yard.bury(GROUP, messages)
    const { results, summary } = await replay({ all: true, dryRun: true })
    expect(results).toHaveLength(3)
    for (const message of messages) {
      const { msgId, topic, queueId, queueOffset } = message
      expect(results).toContainEqual({
        msgId,
        status: 'would-replay',
        reason: null,
        topic,
        queueId,
        queueOffset,
      })
    }
    expect(summary).toMatchObject({ matched: 3, replayed: 3, remaining: 0 })
    expect(await yard.deadCount(GROUP)).toBe(3)
  })

  it('foresees the queue in another topic, as the replay then finds it', async () => {
    await yard.broker.createTopic({ topic: 'again', queues: 3 })
    await yard.bury(GROUP, await yard.send('orders', ['a', 'b', 'c', 'd']))
    const foreseen = await replay({ all: true, toTopic: 'again', dryRun: true })
    const done = await replay({ all: true, toTopic: 'again' })
    expect(done.results.map(({ topic, queueId }) => [topic, queueId])).toEqual(
      foreseen.results.map(({ topic, queueId }) => [topic, queueId]),
    )
    expect(done.summary.replayed).toBe(4)
  })

  it('says which topic does not exist', async () => {
    await yard.bury(GROUP, await yard.send('orders', ['a']))
    const { results, summary } = await replay({ all: true, toTopic: 'nowhere', dryRun: true })
    expect(results).toEqual([
      expect.objectContaining({ status: 'failed', reason: 'topic nowhere does not exist' }),
    ])
    expect(summary.failed).toBe(1)
  })
})

describe('a replay to another topic', () => {
  it('appends in the original order and keeps ids and keys', async () => {
    await yard.broker.createTopic({ topic: 'again', queues: 1 })
    const messages = await yard.send('orders', MANY)
    await yard.bury(GROUP, messages)
    await replay({ all: true, toTopic: 'again' })
    const pulled = await yard.broker.pull({
      mq: yard.queue('again', 0),
      offset: 0,
      maxMessages: 1000,
      waitMs: 0,
    })
    expect(pulled.messages.map(({ msgId, key }) => [msgId, key])).toEqual(
      messages.map(({ msgId, key }) => [msgId, key]),
    )
  })

  it('counts as failed what the topic refuses, and goes on', async () => {
    await yard.broker.createTopic({ topic: 'small', queues: 1, maxBody: 4 })
    await yard.bury(GROUP, await yard.send('orders', ['a', 'much-longer', 'b']))
    const { results, summary } = await replay({ all: true, toTopic: 'small' })
    expect(summary).toMatchObject({ replayed: 2, failed: 1, skipped: 0 })
    expect(results.find(({ status }) => status === 'failed')?.reason).toContain('too large')
    expect(await yard.deadCount(GROUP)).toBe(1)
  })
})

describe('a replay is refused', () => {
  it('when nothing says which ones are meant', async () => {
    await yard.bury(GROUP, await yard.send('orders', ['a']))
    await expect(replay({})).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(replay({ filter: { states: ['parked'] } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await yard.deadCount(GROUP)).toBe(1)
  })

  it('for a group that does not exist', async () => {
    await expect(replay({ group: 'nobody', all: true })).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
  })

  it.each([{ limit: 0 }, { limit: Number.NaN }, { ratePerSecond: 0 }, { ratePerSecond: -1 }])(
    'with %j',
    async (options) => {
      await expect(replay({ all: true, ...options })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    },
  )
})
