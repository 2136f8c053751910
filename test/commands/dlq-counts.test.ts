import { expect, it } from 'vitest'
import { bury, json, rows, withDeadLetters } from '../helpers/dead-letters.ts'
import { seed } from '../helpers/store.ts'

interface Count {
  readonly group: string
  readonly count: number
  readonly example: string
  readonly [trait: string]: unknown
}

/** Group g: a, b, a, c, a of t with the keys k0, k1, k0, k1, k0, and z of u without a key; group h: a, b, a, c, a. */
async function withTwoGroups() {
  const one = await withDeadLetters(['a', 'b', 'a', 'c', 'a'])
  await seed(one.db, 'u', 1, [{ body: 'z' }])
  await bury(one, 'u')
  await bury(one, 't', 'h')
  const by = async (trait: string, ...args: string[]) =>
    (await json(one.run(['dlq', 'list', '--by', trait, '--json', ...args]))).deadLetters as readonly Count[]
  return { ...one, by }
}

it('counts what dead letters have in common, the most first, with the first of them as an example', async () => {
  const { run, by } = await withTwoGroups()
  const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
  const [first, second, , fourth, , last] = deadLetters
  const counts = (list: readonly Count[], trait: string) => list.map((c) => [c[trait], c.count, c.example])
  expect(counts(await by('error', '-g', 'g'), 'error')).toEqual([
    ['cannot do a', 3, first.msgId],
    ['cannot do b', 1, second.msgId],
    ['cannot do c', 1, fourth.msgId],
    ['cannot do z', 1, last.msgId],
  ])
  expect(counts(await by('key', '-g', 'g'), 'key')).toEqual([
    ['k0', 3, first.msgId],
    ['k1', 2, second.msgId],
    [null, 1, last.msgId],
  ])
  const [topic] = await by('topic', '-g', 'g')
  expect(topic).toEqual({
    ...{ group: 'g', topic: 't', count: 5, example: first.msgId },
    ...{ since: first.deadLetteredAt, last: deadLetters[4].deadLetteredAt },
  })
  const [row] = rows((await run(['dlq', 'list', '-g', 'g', '--by', 'key'])).stdout)
  expect(row).toEqual(['3', 'k0', 'g', first.deadLetteredAt, deadLetters[4].deadLetteredAt, first.msgId])
})

it('looks at all groups where none is named, and at what the filters select', async () => {
  const { run, by } = await withTwoGroups()
  const pairs = (list: readonly Count[]) => list.map(({ group, topic, count }) => [group, topic, count])
  expect(pairs(await by('topic'))).toEqual([
    ['g', 't', 5],
    ['h', 't', 5],
    ['g', 'u', 1],
  ])
  expect(pairs(await by('topic', '--error-match', 'do [bz]'))).toEqual([
    ['g', 't', 1],
    ['g', 'u', 1],
    ['h', 't', 1],
  ])
  expect(await by('error', '--state', 'replayed')).toEqual([])
  const none = await run(['dlq', 'list', '-g', 'h', '--by', 'error', '--until', '-1h'])
  expect([none.status, none.stdout, none.stderr]).toEqual([0, '', 'group h has no such dead letters\n'])
  expect((await run(['dlq', 'list', '--by', 'colour'])).status).toBe(2)
  expect((await run(['dlq', 'list', '-g', 'nope', '--by', 'key'])).status).toBe(3)
})
