import { describe, expect, test } from 'vitest'
import { type Case, compareTrees, type JournalEntry, judge, parseTree } from '../../demo/judge.mjs'

/** Two queues, two files; consumer a begins, dies in queue 0 at offset 1, and b goes on. */
const ENTRIES: readonly JournalEntry[] = [
  ...run(10, 'a', 0, 0, 'x', null, 'x1'),
  ...run(20, 'b', 1, 0, 'y', null, 'y1'),
  ...run(30, 'a', 0, 1, 'x', 'x1', 'x2'),
  ...run(60, 'b', 0, 1, 'x', 'x1', 'x2', 'repeat'),
  ...run(70, 'b', 0, 2, 'x', 'x2', null),
]
const FINE: Case = {
  entries: ENTRIES,
  kills: [{ at: 50, consumer: 'a' }],
  seen: [{ at: 40, queueId: 0, committedOffset: 1 }],
  total: 4,
}

function run(
  at: number,
  consumer: string,
  queueId: number,
  offset: number,
  path: string,
  before: string | null,
  after: string | null,
  outcome: 'applied' | 'repeat' | 'conflict' = 'applied',
): readonly [JournalEntry, JournalEntry] {
  const entry = { consumer, queueId, offset, path, before, after }
  return [
    { at, event: 'begin', ...entry },
    { at: at + 5, event: 'done', ...entry, outcome },
  ]
}

const problemsOf = (change: Partial<Case>) => judge({ ...FINE, ...change }).problems

test('an orderly history with one kill has no problems', () => {
  const verdict = judge(FINE)
  expect(verdict.problems).toEqual([])
  expect(verdict.applied).toBe(4)
  expect(verdict.repeats).toBe(1)
  expect([...verdict.content]).toEqual([['y', 'y1']])
})

test('a run that a kill cut short may be begun again', () => {
  const cut = ENTRIES.filter((entry) => !(entry.at === 35 && entry.event === 'done'))
  expect(problemsOf({ entries: cut })).toEqual([])
})

describe('the judge sees', () => {
  test('an overtaken message', () => {
    const entries = [...run(10, 'a', 0, 1, 'x', 'x1', 'x2'), ...run(20, 'a', 0, 0, 'x', null, 'x1')]
    expect(problemsOf({ entries, kills: [], seen: [], total: 2 })).toContainEqual(
      expect.stringContaining('came before offset 0'),
    )
  })

  test('a change that met another content', () => {
    const entries = [...run(10, 'a', 0, 0, 'x', null, 'x1'), ...run(20, 'a', 0, 1, 'x', 'x0', 'x2')]
    expect(problemsOf({ entries, total: 2 })).toEqual(['queue 0 offset 1 (a): x had x1'])
  })

  test('what the handler itself complained about', () => {
    expect(problemsOf({ entries: run(10, 'a', 0, 0, 'x', null, 'x1', 'conflict'), total: 1 })).toHaveLength(1)
  })

  test('a repeat without a kill', () => {
    expect(problemsOf({ kills: [] })).toEqual([
      'queue 0 offset 1 (b) was repeated although a had not been killed',
    ])
  })

  test('a repeat before the kill', () => {
    expect(problemsOf({ kills: [{ at: 65, consumer: 'a' }] })).toHaveLength(1)
  })

  test('a repeat after the kill of someone else', () => {
    expect(problemsOf({ kills: [{ at: 50, consumer: 'b' }] })).toHaveLength(1)
  })

  test('a repeat below an offset that was seen committed', () => {
    const seen = [{ at: 55, queueId: 0, committedOffset: 2 }]
    expect(problemsOf({ seen })).toEqual(['queue 0 offset 1 (b) was repeated below the committed offset 2'])
    expect(problemsOf({ seen: [{ at: 55, queueId: 1, committedOffset: 2 }] })).toEqual([])
    expect(problemsOf({ seen: [{ at: 65, queueId: 0, committedOffset: 2 }] })).toEqual([])
  })

  test('two handlers in one queue at a time', () => {
    const entries = ENTRIES.map((entry) => (entry.at === 35 ? { ...entry, at: 62 } : entry))
    expect(problemsOf({ entries: entries.toSorted((a, b) => a.at - b.at) })).toEqual([
      'queue 0 offset 1 (b) began while queue 0 offset 1 (a) was still running',
    ])
  })

  test('a message that never came', () => {
    expect(problemsOf({ total: 5 })).toEqual(['4 of 5 changes were handled'])
  })
})

test('two trees differ in content, by a missing path and by one too many', () => {
  const expected = parseTree('1\ta\n2\tb with spaces\n3\tc\n')
  expect([...expected]).toEqual([
    ['a', '1'],
    ['b with spaces', '2'],
    ['c', '3'],
  ])
  const actual = new Map([
    ['a', '1'],
    ['c', '4'],
    ['d', '5'],
  ])
  expect(compareTrees(expected, expected)).toEqual([])
  expect(compareTrees(expected, actual)).toEqual([
    'b with spaces is missing, not 2',
    'c is 4, not 3',
    'd should not be there',
  ])
})
