import { describe, expect, it } from 'vitest'
import { startConsumer } from '../helpers/consumer.ts'
import { json } from '../helpers/dead-letters.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

/** Sorted bodies that a group of its own is given. */
async function consumed(run: ReturnType<typeof shop>['run'], ...filter: readonly string[]): Promise<string> {
  const { stdout } = await run(['consume', 't', '-g', 'g', '-e', ...filter])
  return stdout.split('\n').filter(Boolean).toSorted().join(' ')
}

const tagged = [
  { body: 'a', tags: 'A' },
  { body: 'b', tags: 'B' },
  { body: 'two', tags: 'two words' },
  { body: 'none' },
]

describe('tag expressions', () => {
  it.each([
    ['A||B', 'a b'],
    ['A || B', 'a b'],
    ['*', 'a b none two'],
    ['', 'a b none two'],
    ['two words', 'two'],
    ['a', ''],
    ['A || *', 'a'],
  ])('%j takes %j', async (expression, bodies) => {
    const { db, run } = shop()
    await seed(db, 't', 2, tagged)
    expect(await consumed(run, '--tag', expression)).toBe(bodies)
  })

  it.each(['A|B', '||', '  '])('%j is refused, and nothing is passed over', async (expression) => {
    const { db, run } = shop()
    await seed(db, 't', 1, tagged)
    const refused = await run(['consume', 't', '-g', 'g', '-e', '--tag', expression])
    expect(refused).toMatchObject({ status: 2, stdout: '' })
    expect(await consumed(run)).toBe('a b none two')
  })

  it('compare the text, not its hash', async () => {
    const { db, run } = shop()
    await seed(
      db,
      't',
      1,
      ['Aa', 'BB', 'AaAa', 'BBBB', 'AaBB'].map((tags) => ({ body: tags, tags })),
    )
    expect(await consumed(run, '--tag', 'BB')).toBe('BB')
  })
})

it.each([
  ['--tag', 'A'],
  ['--sql', "TAGS = 'A'"],
])('what %s %j drops is no lag, also at the end of the queue', async (...filter) => {
  const { db, run } = shop()
  const interleaved = Array.from({ length: 100 }, (_, i) => ({ body: `${i}`, tags: i % 2 === 0 ? 'A' : 'B' }))
  const last = Array.from({ length: 10 }, () => ({ body: 'last', tags: 'B' }))
  await seed(db, 't', 1, [...interleaved, ...last])
  const bodies = await consumed(run, '--orderly', ...filter)
  expect(bodies.split(' ')).toHaveLength(50)
  const { offsets } = await json(run(['offsets', 'list', '-g', 'g', '--topic', 't', '--json']))
  expect(offsets).toMatchObject([{ committedOffset: 110, maxOffset: 110, lag: 0 }])
})

it('a member with another filter is refused, is told both, and nothing is lost', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, tagged)
  const first = startConsumer(db, 't', '--sql', "TAGS = 'A'")
  await first.prints('a\n')
  const second = await run(['consume', 't', '-g', 'g', '--orderly', '--tag', 'B', '-e'])
  expect(second).toMatchObject({ status: 4, stdout: '' })
  expect(second.stderr).toContain("TAGS = 'A'")
  expect(second.stderr).toContain('TAG "B"')
  first.signal('SIGTERM')
  expect((await first.ended)[0]).toBe(0)
  expect(first.stdout).toBe('a\n')
})
