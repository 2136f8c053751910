import { describe, expect, it } from 'vitest'
import type { DeadLetter } from '../../../src/core/index.ts'
import { judgeKeys } from './judge-keys.ts'
import { judgeOnce } from './judge-once.ts'
import { Kills } from './kills.ts'
import type { RunNote } from './run-log.ts'
import type { Sample } from './samples.ts'

const OWNER = 100
const HEIR = 200
let clock = 1_000_000

/** `start 0`, `success 0 2` (of the second attempt): notes of message 0 of key k, one a second. */
function notes(...texts: readonly (string | readonly [text: string, change: Partial<RunNote>])[]): RunNote[] {
  return texts.map((each) => {
    const [text, change] = typeof each === 'string' ? [each, {}] : each
    const [what, n, attempt = '1'] = text.split(' ')
    clock += 1000
    const note = { what: what as RunNote['what'], pid: OWNER, owner: OWNER, n: Number(n), key: 'k' }
    return { ...note, attempt: Number(attempt), at: clock, ...change }
  })
}

function killsOf(...killed: readonly number[]): Kills {
  const kills = new Kills()
  for (const pid of [OWNER, HEIR]) kills.began(pid)
  for (const pid of killed) kills.killed(pid, clock)
  return kills
}

const sent = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ n, key: 'k', queueId: 0, offset: n }))
const sample = (committed: number, seen: number, away: readonly number[] = []): Sample => ({
  done: new Map([[0, [[0, committed]]]]),
  away: new Set(away),
  notes: seen,
})
const letter = (n: number, attempts: number) =>
  ({
    message: { body: Buffer.from(`${n}`) },
    attempts,
    deadLetteredAt: clock,
    lastError: 'no',
  }) as unknown as DeadLetter

describe('who judges a concurrent group', () => {
  const judged = (seen: Partial<Parameters<typeof judgeOnce>[0]>) =>
    judgeOnce({
      sent: sent(1),
      notes: [],
      deadLetters: [],
      kills: killsOf(),
      samples: [],
      maxReconsumeTimes: 1,
      consumeTimeoutMs: 5000,
      ...seen,
    }).map((problem) => problem.replace(/;.*/, ''))

  it('is content with a success, and with a death after all tries', () => {
    expect(judged({ notes: notes('start 0', 'success 0') })).toEqual([])
    const failed = notes('start 0', 'retry 0', 'start 0 2', 'retry 0 2')
    expect(judged({ notes: failed, deadLetters: [letter(0, 2)] })).toEqual([])
  })

  it('sees a lost message', () => {
    expect(judged({ notes: notes('start 0', 'retry 0') })).toEqual([
      'message 0: it is no dead letter, and never succeeded',
    ])
  })

  it('sees a death too many, too early, and a life after it', () => {
    const failed = notes('start 0', 'retry 0')
    expect(judged({ notes: failed, deadLetters: [letter(0, 2), letter(0, 2)] })).toHaveLength(1)
    expect(judged({ notes: failed, deadLetters: [letter(0, 1)] })).toEqual([
      'message 0: it died of 1 attempts: no',
    ])
    const death = letter(0, 2)
    const late = [...failed, ...notes('start 0 2')]
    expect(judged({ notes: late, deadLetters: [death] })).toEqual([
      'message 0: attempt 2 began 1000 ms after its death',
    ])
  })

  it('sees an attempt that was made twice, unless its consumer was killed', () => {
    const first = notes('start 0')
    const again = ['start 0', { pid: HEIR, owner: HEIR }] as const
    const kills = killsOf(OWNER)
    expect(judged({ notes: [...first, ...notes(again, 'success 0')], kills })).toEqual([])
    expect(judged({ notes: [...first, ...notes(again, 'success 0')] })).toHaveLength(1)
  })

  it('sees an offset that passes a message in work, unless it was sent back', () => {
    const run = notes('start 0', 'success 0')
    expect(judged({ notes: run, samples: [sample(0, 1), sample(1, 2)] })).toEqual([])
    expect(judged({ notes: run, samples: [sample(1, 1, [0])] })).toEqual([])
    expect(judged({ notes: run, samples: [sample(1, 1)] })).toEqual([
      'message 0: it was passed while it was in work',
    ])
  })
})

describe('who judges the order of keys', () => {
  const judged = (seen: Partial<Parameters<typeof judgeKeys>[0]>) =>
    judgeKeys({ sent: sent(2), notes: [], kills: killsOf(), samples: [], ...seen })

  it('is content with order, retries included', () => {
    const run = notes('start 0', 'retry 0', 'start 0 2', 'dead-letter 0 2', 'start 1', 'success 1')
    expect(judged({ notes: run, samples: [sample(1, 5)] })).toEqual([])
  })

  it('sees a message that overtook another one, and one that never came', () => {
    const run = notes('start 1', 'success 1')
    expect(judged({ notes: run })).toEqual([
      `k 1 (attempt 1, pid ${OWNER}) began before 0 had ended`,
      'k: 0 never ended',
    ])
  })

  it('sees two runs of a key at once, unless the consumer of the first died with it', () => {
    const first = notes('start 0')
    const kills = killsOf(OWNER)
    const rest = notes(
      ['start 0', { pid: HEIR, owner: HEIR }],
      ['success 0', { pid: HEIR }],
      'start 1',
      'success 1',
    )
    expect(judged({ notes: [...first, ...rest], kills })).toEqual([])
    expect(judged({ notes: [...first, ...rest] })).toHaveLength(2)
    // A process of its own does not die with its consumer.
    const own = first.map((note) => ({ ...note, pid: 999 }))
    expect(judged({ notes: [...own, ...rest], kills })).toHaveLength(2)
  })

  it('sees a message that comes again after the group was done with it', () => {
    const run = notes('start 0', 'success 0', 'start 0', 'success 0', 'start 1', 'success 1')
    expect(judged({ notes: run, samples: [sample(1, 2)] })).toEqual([
      '0 began again, although the group was done with it',
    ])
    expect(judged({ notes: run, samples: [sample(0, 2), sample(1, 4)] })).toEqual([])
  })
})
