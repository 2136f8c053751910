import { describe, expect, it } from 'vitest'
import { json, rows, withDeadLetters } from '../helpers/dead-letters.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { buryAll } from '../helpers/undertaker.ts'

const PURGE = ['dlq', 'purge', '-g', 'g']
const confirmed = [...PURGE, '--confirm', 'g']

describe('dlq purge', () => {
  it('deletes what the filters select, says how many, and leaves the rest', async () => {
    const { run } = await withDeadLetters(['a', 'b', 'c'])
    const purged = await run([...confirmed, '--key', 'k0', '--error-match', 'do [ab]'])
    expect(purged.status).toBe(0)
    expect(Object.fromEntries(rows(purged.stdout))).toEqual({
      group: 'g',
      purged: '1',
      left: '0',
      remaining: '2',
    })
    expect(purged.stderr).toContain('purged 1 dead letter of group g')
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    expect(deadLetters.map(({ body }: { body: string }) => body)).toEqual(['b', 'c'])
    expect(await json(run([...confirmed, '--json']))).toEqual({
      ...{ group: 'g', purged: 2, left: 0, remaining: 0, dryRun: false },
    })
    expect(await json(run(['dlq', 'list', '-g', 'g', '--state', 'all', '--json']))).toEqual({
      deadLetters: [],
    })
    expect((await run(['verify'])).status).toBe(0)
  })

  it('leaves what waits to be delivered once more, and deletes it when it is done', async () => {
    const { run } = await withDeadLetters(['a', 'b'])
    await run(['dlq', 'replay', '-g', 'g', '--all', '--yes'])
    expect(await json(run([...confirmed, '--json']))).toMatchObject({ purged: 0, remaining: 0 })
    expect(await json(run([...confirmed, '--state', 'all', '--json']))).toMatchObject({ purged: 0, left: 2 })
    const again = await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
    expect(again.stdout).toBe('a\nb\n')
    expect(await json(run([...confirmed, '--state', 'replayed', '--json']))).toMatchObject({
      purged: 2,
      left: 0,
    })
  })

  it('opens a parked key when nothing of it is left', async () => {
    const { db, run } = shop()
    const message = (body: string, key: string) => ({ body, key })
    await seed(
      db,
      't',
      1,
      ['x1', 'y1', 'x2', 'y2'].map((body) => message(body, body.charAt(0))),
    )
    const handler = 'read b; case $b in x1) exit 65;; esac; echo $b'
    const consume = [
      'consume',
      't',
      '-g',
      'g',
      '--orderly',
      '-e',
      '--on-exhausted',
      'park-key',
      '--exec',
      handler,
    ]
    expect((await run(consume)).stdout).toBe('y1\ny2\n')
    const listed = rows((await run(['dlq', 'list', '-g', 'g'])).stdout)
    expect(listed.map((row) => [row[4], row[6]])).toEqual([
      ['x', 'dead'],
      ['x', 'parked'],
    ])
    const [, parkedId] = listed.map(([msgId]) => msgId)
    const shown = await run(['dlq', 'show', '-g', 'g', parkedId ?? ''])
    expect(Object.fromEntries(rows(shown.stdout))).toMatchObject({ state: 'parked', key: 'x', attempts: '0' })
    await run(['send', 't', 'x3', '--key', 'x'])
    expect((await run(consume)).stdout).toBe('')
    await run([...confirmed, '--key', 'x'])
    await run(['send', 't', 'x4', '--key', 'x'])
    expect((await run(consume)).stdout).toBe('x4\n')
    expect((await run(['verify'])).status).toBe(0)
  })

  it('keeps to the times that are said', async () => {
    const { run } = await withDeadLetters(['a'])
    const kept = { purged: 0, left: 0, remaining: 1 }
    expect(await json(run([...confirmed, '--since', 'now', '--json']))).toMatchObject(kept)
    expect(await json(run([...confirmed, '--until', '-1h', '--json']))).toMatchObject(kept)
    expect(await json(run([...confirmed, '--until', 'now', '--json']))).toMatchObject({
      purged: 1,
      remaining: 0,
    })
  })

  it('deletes many, page by page', async () => {
    const one = shop()
    await seed(
      one.db,
      't',
      1,
      Array.from({ length: 250 }, (_, i) => ({ body: `bad${i}` })),
    )
    await withBroker(one.db, (broker) => buryAll(broker, 't'))
    expect(await json(one.run([...confirmed, '--json']))).toMatchObject({
      purged: 250,
      left: 0,
      remaining: 0,
    })
  })
})
