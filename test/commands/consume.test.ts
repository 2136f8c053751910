import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseLines, shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const numbered = (count: number, key = 'k') =>
  Array.from({ length: count }, (_, i) => ({ key, body: `m${i}` }))

describe('consume to stdout', () => {
  it('prints each message once, in order, and ends where the queue ended', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(300))
    const first = await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
    expect(first.status).toBe(0)
    expect(first.stdout).toBe(
      numbered(300)
        .map(({ body }) => `${body}\n`)
        .join(''),
    )
    expect(first.stderr).toMatch(/group g is new on t .*earliest.*\nconsumed 300 in /)
    const again = await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
    expect(again.stdout).toBe('')
    expect(again.stderr).toMatch(/^consumed 0 in /)
  })

  it('prints records, formats, and bodies with NULs', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, [{ key: 'k', tags: 'x', body: 'a\nb' }])
    const get = async (group: string, ...args: string[]) =>
      (await run(['consume', 't', '-g', group, '--orderly', '-c', '1', ...args])).stdout
    expect(parseLines(await get('a', '--json'))).toMatchObject([
      { topic: 't', key: 'k', tags: 'x', body: 'a\nb' },
    ])
    expect(await get('b', '--raw0')).toBe('a\nb\0')
    expect(await get('c', '-f', '%p/%o/%k=%S%n\\n')).toBe('0/0/k=31\n')
  })

  it('ends after --count, and what it did not take is left for the next one', async () => {
    const { db, run } = shop()
    await seed(
      db,
      't',
      2,
      numbered(10).map((message, i) => ({ ...message, queueId: i % 2 })),
    )
    const args = ['consume', 't', '-g', 'g', '--orderly']
    expect((await run([...args, '-c', '4'])).stdout.trimEnd().split('\n')).toHaveLength(4)
    expect((await run([...args, '-e'])).stdout.trimEnd().split('\n')).toHaveLength(6)
  })

  it('ends when nothing came for a while', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(2))
    const idle = await run(['consume', 't', '-g', 'g', '--orderly', '--idle-timeout', '300ms'])
    expect(idle.status).toBe(0)
    expect(idle.stdout).toBe('m0\nm1\n')
  })

  it('filters by tag, and starts where it is told', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, [{ body: 'a', tags: 'A' }, { body: 'b', tags: 'B' }, { body: 'none' }])
    const args = ['consume', 't', '--orderly', '-e']
    expect((await run([...args, '-g', 'a', '--tag', 'A || C'])).stdout).toBe('a\n')
    const latest = await run([...args, '-g', 'b', '--from', 'latest'])
    expect(latest.stdout).toBe('')
    expect(latest.stderr).toMatch(/^consumed 0 in /)
    expect((await run([...args, '-g', 'c', '--from', '@2020-01-01'])).stdout).toBe('a\nb\nnone\n')
  })

  it('takes the group from the environment, else says which one it takes', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(1))
    const args = ['consume', 't', '--orderly', '-e', '--from', 'earliest']
    const named = await run(args, { env: { RMQ_GROUP: 'fromenv' } })
    expect(named.stderr).toMatch(/^consumed 1 in /)
    expect((await run(args)).stderr).toMatch(/^no group given, using "default"/)
    const groups = JSON.parse((await run(['groups', 'list', '--json'])).stdout).groups
    expect(groups.map(({ group }: { group: string }) => group).sort()).toEqual(['default', 'fromenv'])
  })

  it('says once that messages without a key are in no order across queues', async () => {
    const { db, run } = shop()
    await seed(db, 't', 2, [{ body: 'a' }, { body: 'b' }, { body: 'c' }])
    const { stderr } = await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
    expect(stderr.match(/has no key/g)).toHaveLength(1)
    const quiet = await run(['consume', 't', '-g', 'g2', '--orderly', '-e', '-q'])
    expect(quiet.stderr).toBe('')
  })
})

describe('consume that cannot begin', () => {
  it('refuses wrong values, each with its exit code', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(1))
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [['nope', '-g', 'g', '--orderly'], 3, 'TOPIC_NOT_FOUND'],
      [['t,', '-g', 'g', '--orderly'], 2, 'empty topic'],
      [['t', '-g', 'a b', '--orderly'], 2, 'INVALID'],
      [['t', '-g', 'g', '--orderly', '--max-reconsume', '-2'], 2, 'max-reconsume'],
      [['t', '-g', 'g', '--orderly', '--max-reconsume', '1.5'], 2, 'max-reconsume'],
      [['t', '-g', 'g', '--orderly', '--max-reconsume', 'abc'], 2, 'max-reconsume'],
      [['t', '-g', 'g', '--orderly', '--tag', 'A|B'], 2, 'tag'],
      [['t', '-g', 'g', '--orderly', '--from', '120'], 2, 'earliest'],
      [['t', '-g', 'g', '--orderly', '-f', '%q'], 2, '%q'],
      [['t', '-g', 'g', '--orderly', '--exec', 'x', '--pipe', 'y'], 2, 'pipe'],
      [['t', '-g', 'g', '--orderly', '--exec', 'x', '--raw'], 2, 'exclude'],
      [['t', '-g', 'g', '--orderly', '--lock-ttl', '60'], 2, '60s'],
      [['t', '-g', 'g', '--sql', 'a >'], 2, 'column'],
      [['t', '-g', 'g', '--client-id', ''], 2, 'client-id'],
      [['t', '-g', 'g', '--client-id', 'a\nb'], 2, 'client-id'],
      [['t', '-g', '%DLQ%g'], 2, 'reserved'],
      [['t', '-g', 'g', '--sql', 'a > 1', '--tag', 'x'], 2, 'tag'],
      [['t', '-g', 'g', '--threads', '0'], 2, 'threads'],
      [['t', '-g', 'g', '--orderly', '--threads', '4'], 2, '--per-key'],
      [['t', '-g', 'g', '--per-key', '4'], 2, '--orderly'],
      [['t', '-g', 'g', '--orderly', '--per-key', '0'], 2, 'per-key'],
      [['t', '-g', 'g', '--on-exhausted', 'park-key'], 2, '--orderly'],
      [['t', '-g', 'g', '--orderly', '--on-exhausted', 'lose'], 2, 'park-key'],
      [['t', '-g', 'g', '--orderly', '--manual-commit'], 2, '--pipe'],
      [['t', '-g', 'g', '--orderly', '--manual-commit', '--per-key', '2', '--pipe', 'cat'], 2, '--per-key'],
      [['t', '-g', 'g', '--orderly', '--consume-timeout', '1m'], 2, 'consume-timeout'],
      [['t', '-g', 'g', '--allocate', 'fairly'], 2, 'averagely'],
      [['t', '-g', 'g', '--handler', './nowhere.mjs'], 1, 'nowhere.mjs'],
      [['t', '-g', 'g', '--handler', 'x.mjs', '--exec', 'y'], 2, 'exclude'],
    ]
    const results = await Promise.all(cases.map(([args]) => run(['consume', ...args])))
    expect(results.map(({ status }) => status)).toEqual(cases.map(([, status]) => status))
    for (const [i, { stdout, stderr }] of results.entries()) {
      expect(stdout).toBe('')
      expect(stderr).toContain(cases[i]?.[2])
    }
    // None of them joined the group or made it.
    expect((await run(['groups', 'list'])).stdout).toBe('')
  })

  it('takes -1 for retries without end, and makes no file for a topic that is nowhere', async () => {
    const { db, run } = shop()
    const { status, stdout } = await run(['consume', 't', '--orderly', '--max-reconsume', '-1', '--json'])
    expect(status).toBe(3)
    expect(JSON.parse(stdout).error.code).toBe('TOPIC_NOT_FOUND')
    expect(existsSync(db)).toBe(false)
  })
})
