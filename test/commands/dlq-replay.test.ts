import { describe, expect, it } from 'vitest'
import { bury, json, rows, withDeadLetters } from '../helpers/dead-letters.ts'

describe('dlq replay', () => {
  it('shows what is there and does nothing until it is told which ones', async () => {
    const { run } = await withDeadLetters(['a', 'b'])
    const unsaid = await run(['dlq', 'replay', '-g', 'g', '--yes'])
    expect(unsaid.status).toBe(2)
    expect(rows(unsaid.stdout)).toHaveLength(2)
    expect(unsaid.stderr).toMatch(/2 dead letters/)
    const unconfirmed = await run(['dlq', 'replay', '-g', 'g', '--all'])
    expect(unconfirmed.status).toBe(2)
    expect(unconfirmed.stderr).toMatch(/--yes/)
    const both = await run(['dlq', 'replay', '-g', 'g', '--all', '--yes', '--dry-run'])
    expect(both.status).toBe(2)
    const dry = await run(['dlq', 'replay', '-g', 'g', '--all', '--dry-run'])
    expect(dry.status).toBe(0)
    expect(rows(dry.stdout).map((row) => row.slice(1))).toEqual([
      ['would-replay', 't', '0', '0', '-'],
      ['would-replay', 't', '0', '1', '-'],
    ])
    expect(rows((await run(['dlq', 'list'])).stdout)).toEqual([['g', '2']])
  })

  it('brings them back in front of newer messages, in order, whole', async () => {
    const one = await withDeadLetters(['a', 'b'])
    const { run } = one
    await run(['send', 't', 'new', '--key', 'k0'])
    const replay = await run(['dlq', 'replay', '-g', 'g', '--all', '--yes', '--json'])
    expect(replay.status).toBe(0)
    const { results, summary } = JSON.parse(replay.stdout)
    expect(results).toMatchObject([
      { status: 'replayed', reason: null, topic: 't', queueId: 0, queueOffset: 0 },
      { status: 'replayed', reason: null, topic: 't', queueId: 0, queueOffset: 1 },
    ])
    expect(summary).toEqual({
      matched: 2,
      replayed: 2,
      skipped: 0,
      failed: 0,
      remaining: 0,
      truncated: false,
      interrupted: false,
      dryRun: false,
    })
    const again = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '--json'])
    const consumed = again.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(consumed.map(({ body }) => body)).toEqual(['a', 'b', 'new'])
    expect(consumed[0]).toMatchObject({
      msgId: results[0].msgId,
      key: 'k0',
      tags: 'first',
      properties: { trace: '订单', empty: '' },
    })
  })

  it('replays the ids it is given, lists those that are unknown, and exits 6', async () => {
    const { run } = await withDeadLetters(['a', 'b'])
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    const id = deadLetters[1].msgId
    const some = await run(['dlq', 'replay', '-g', 'g', id, '00', '-y', '--json'])
    expect(some.status).toBe(6)
    const { results, summary } = JSON.parse(some.stdout)
    expect(results).toMatchObject([
      { msgId: id, status: 'replayed' },
      { msgId: '00', status: 'failed', reason: 'not found' },
    ])
    expect(summary).toMatchObject({ matched: 2, replayed: 1, skipped: 0, failed: 1, remaining: 0 })
  })

  it('says what a limit left over, and goes on from there', async () => {
    const { run } = await withDeadLetters(['a', 'b', 'c'])
    const args = ['dlq', 'replay', '-g', 'g', '--all', '--limit', '2', '--yes', '--json']
    const first = await run(args)
    expect(first.status).toBe(6)
    expect(JSON.parse(first.stdout).summary).toMatchObject({ replayed: 2, remaining: 1, truncated: true })
    const second = await run(args)
    expect(second.status).toBe(0)
    expect(JSON.parse(second.stdout).summary).toMatchObject({ replayed: 1, remaining: 0, truncated: false })
  })

  it('refuses a message that was replayed often enough', async () => {
    const one = await withDeadLetters(['a'])
    const { run } = one
    const replay = () =>
      json(run(['dlq', 'replay', '-g', 'g', '--all', '--max-replays', '2', '--yes', '--json']))
    for (const replays of [1, 2]) {
      expect((await replay()).summary).toMatchObject({ replayed: 1 })
      await bury(one, 't')
      const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
      expect(deadLetters).toMatchObject([{ body: 'a', replays }])
    }
    const third = await replay()
    expect(third.summary).toMatchObject({ matched: 1, replayed: 0, skipped: 1 })
    expect(third.results[0].reason).toMatch(/2 times/)
  })

  it('appends to another topic when that is asked for', async () => {
    const { run, records } = await withDeadLetters(['a', 'b'])
    const nowhere = await run(['dlq', 'replay', '-g', 'g', '--all', '--to-topic', 'fixed', '--yes', '--json'])
    expect(nowhere.status).toBe(6)
    expect(JSON.parse(nowhere.stdout).summary).toMatchObject({ matched: 2, replayed: 0, failed: 2 })
    await run(['topics', 'create', 'fixed', '--queues', '1'])
    const moved = await run(['dlq', 'replay', '-g', 'g', '--key', 'k0', '--to-topic', 'fixed', '--yes'])
    expect(moved.status).toBe(0)
    expect(await records('fixed')).toMatchObject([{ body: 'a', key: 'k0', properties: { trace: '订单' } }])
  })

  it('refuses wrong values', async () => {
    const { run } = await withDeadLetters(['a'])
    const cases = [
      ['--error-match', '('],
      ['--tag', 'A|B'],
      ['--since', 'yesterday'],
      ['--rate', '5'],
      ['--limit', '0'],
      ['--all', '--key', 'a', '--not-key', 'b'],
    ]
    const results = await Promise.all(
      cases.map((args) => run(['dlq', 'replay', '-g', 'g', '--yes', ...args])),
    )
    expect(results.map(({ status }) => status)).toEqual(cases.map(() => 2))
    expect(rows((await run(['dlq', 'list'])).stdout)).toEqual([['g', '1']])
  })
})
