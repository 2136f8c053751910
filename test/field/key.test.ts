import { describe, expect, it } from 'vitest'
import { parseLines, shop } from '../helpers/shop.ts'

describe('ORDER: keys whose hash is the smallest 32-bit integer', () => {
  // |-2^31 % n| for each n.
  it.each([
    [3, 2],
    [4, 0],
    [5, 3],
    [7, 2],
    [8, 0],
  ])('of %d queues they go to queue %d', async (queues, queueId) => {
    const { run, records } = shop()
    await run(['topics', 'create', 'orders', '--queues', String(queues)])
    const keys = ['polygenelubricants', 'GydZG_', 'DESIGNING WORKHOUSES']
    const input = keys.map((key) => `${JSON.stringify({ key, body: key })}\n`).join('')
    expect((await run(['send', 'orders', '--input', 'ndjson'], { input })).status).toBe(0)
    const stored = await records('orders')
    expect(stored.map((record: { queueId: number }) => record.queueId)).toEqual([queueId, queueId, queueId])
  })

  it.each(['0', '-1'])('a topic of %s queues cannot be', async (queues) => {
    const { run } = shop()
    expect((await run(['topics', 'create', 'orders', `--queues=${queues}`])).status).toBe(2)
    expect(JSON.parse((await run(['topics', 'list', '--json'])).stdout)).toEqual({ topics: [] })
  })
})

describe('PAYLOAD: keys that look or hash alike', () => {
  it('finds a key by itself, not by its hash', async () => {
    const { run } = shop()
    // "Aa" and "BB" have one hash in Java.
    await run(['send', 'orders', 'one', '--key', 'Aa'])
    await run(['send', 'orders', 'two', '--key', 'BB'])
    const { stdout } = await run(['peek', 'orders', '--key', 'Aa', '--json'])
    expect(parseLines(stdout).map(({ body }: { body: string }) => body)).toEqual(['one'])
  })

  it('keeps composed and decomposed letters apart, as two keys', async () => {
    const { run, records } = shop()
    await run(['topics', 'create', 'orders', '--queues', '8'])
    await run(['send', 'orders', 'composed', '--key', '\u00e9'])
    await run(['send', 'orders', 'decomposed', '--key', 'e\u0301'])
    expect(await records('orders')).toMatchObject([
      { key: '\u00e9', queueId: 1, body: 'composed' },
      { key: 'e\u0301', queueId: 4, body: 'decomposed' },
    ])
  })
})
