import { describe, expect, it } from 'vitest'
import { json, rows, withDeadLetters } from '../helpers/dead-letters.ts'

describe('dlq list and show', () => {
  it('lists what died, why, and where it came from', async () => {
    const { run } = await withDeadLetters(['a', 'good', 'b'])
    const listed = await run(['dlq', 'list', '-g', 'g'])
    expect(
      rows(listed.stdout).map((row) => [row[1], row[3], row[4], row[5], row[6], row[7], row[9]]),
    ).toEqual([
      ['t', '0', 'k0', '1', 'dead', '0', 'cannot do a'],
      ['t', '2', 'k0', '1', 'dead', '0', 'cannot do b'],
    ])
    expect(rows((await run(['dlq', 'list'])).stdout)).toEqual([['g', '2']])
    expect(await json(run(['dlq', 'list', '--json']))).toEqual({ groups: [{ group: 'g', deadLetters: 2 }] })
    const { deadLetters } = await json(run(['dlq', 'list', '--json'], { env: { RMQ_GROUP: 'g' } }))
    expect(deadLetters[0]).toMatchObject({
      topic: 't',
      group: 'g',
      originTopic: 't',
      originQueueId: 0,
      originQueueOffset: 0,
      key: 'k0',
      tags: 'first',
      properties: { trace: '订单', empty: '' },
      body: 'a',
      attempts: 1,
      lastError: 'cannot do a',
      state: 'dead',
      replays: 0,
      replayedAt: null,
    })
    expect(Date.parse(deadLetters[0].deadLetteredAt)).toBeGreaterThanOrEqual(
      Date.parse(deadLetters[0].firstFailedAt),
    )
  })

  it('selects by filters', async () => {
    const { run } = await withDeadLetters(['a', 'b', 'c'])
    const bodies = async (...filters: string[]) =>
      (await json(run(['dlq', 'show', '-g', 'g', '--json', ...filters]))).deadLetters.map(
        ({ body }: { body: string }) => body,
      )
    expect(await bodies('--key', 'k0')).toEqual(['a', 'c'])
    expect(await bodies('--not-key', 'k0')).toEqual(['b'])
    expect(await bodies('--tag', 'first || none')).toEqual(['a'])
    expect(await bodies('--error-match', 'do [bc]$')).toEqual(['b', 'c'])
    expect(await bodies('--topic', 'other')).toEqual([])
    expect(await bodies('--since', '-1h', '--until', 'now')).toEqual(['a', 'b', 'c'])
    expect(await bodies('--until', '-1h')).toEqual([])
    expect(await bodies('--state', 'replayed')).toEqual([])
  })

  it('shows one whole, by its id in any case', async () => {
    const { run } = await withDeadLetters(['a'])
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    const { msgId } = deadLetters[0]
    const shown = await run(['dlq', 'show', '-g', 'g', msgId.toLowerCase()])
    expect(Object.fromEntries(rows(shown.stdout))).toMatchObject({ message: msgId, key: 'k0', body: 'a' })
    const unknown = await run(['dlq', 'show', '-g', 'g', 'ABC'])
    expect(unknown.status).toBe(3)
    expect(unknown.stderr).toContain('MESSAGE_NOT_FOUND')
  })

  it('tells a group without dead letters from one that is unknown', async () => {
    const { run } = await withDeadLetters(['good'])
    for (const command of ['list', 'show']) {
      const empty = await run(['dlq', command, '-g', 'g', '--json'])
      expect([empty.status, JSON.parse(empty.stdout)]).toEqual([0, { deadLetters: [] }])
      const unknown = await run(['dlq', command, '-g', 'nope', '--json'])
      expect([unknown.status, JSON.parse(unknown.stdout).error.code]).toEqual([3, 'GROUP_NOT_FOUND'])
    }
    const nothing = await run(['dlq', 'replay', '-g', 'g', '--all', '--json'])
    expect(nothing.status).toBe(0)
    expect(JSON.parse(nothing.stdout)).toMatchObject({ results: [], summary: { matched: 0, replayed: 0 } })
    expect((await run(['dlq', 'replay', '-g', 'nope', '--all', '--yes'])).status).toBe(3)
  })
})
