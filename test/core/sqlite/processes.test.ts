import { describe, expect, it } from 'vitest'
import { openBroker } from '../../../src/core/open-broker.ts'
import { tempDb } from '../../helpers/temp.ts'
import { runPeer } from './run-peer.ts'

describe('several processes on one file', () => {
  it('create it at the same time', async () => {
    const db = tempDb()
    const results = await Promise.all(Array.from({ length: 6 }, () => runPeer([db])))
    expect(results).toEqual(results.map(() => ({ sent: 0, topics: 0 })))
    await using broker = await openBroker({ db })
    await broker.createTopic({ topic: 't' })
  })

  it('send at the same time: no error, and offsets without gaps', async () => {
    const db = tempDb()
    await using broker = await openBroker({ db })
    await broker.createTopic({ topic: 't', queues: 2 })
    const results = await Promise.all(Array.from({ length: 5 }, () => runPeer([db, 't', 60])))
    expect(results).toEqual(results.map(() => ({ sent: 60 })))
    const perSender = new Map<string, number>()
    for (const mq of await broker.publishQueues('t')) {
      const { messages } = await broker.pull({ mq, offset: 0, maxMessages: 1000, waitMs: 0 })
      expect(messages.map(({ queueOffset }) => queueOffset)).toEqual(Array.from({ length: 150 }, (_, i) => i))
      for (const { key } of messages) perSender.set(key ?? '', (perSender.get(key ?? '') ?? 0) + 1)
    }
    expect([...perSender.values()]).toEqual([60, 60, 60, 60, 60])
  })
})

describe('a disk that takes no more', () => {
  it('is said as such, and what was acknowledged is there', async () => {
    const db = tempDb()
    await using broker = await openBroker({ db })
    await broker.createTopic({ topic: 't', queues: 1 })
    // Blocks of 512 or 1024 bytes, by shell: 1 or 2 MiB.
    const { sent, error } = await runPeer([db, 't', 1000, 10_000], 'ulimit -f 2048')
    expect(error).toBe('STORE_FULL')
    expect(sent).toBeGreaterThan(20)
    expect((await broker.queueStats('t'))[0]?.maxOffset).toBe(sent)
  })
})
