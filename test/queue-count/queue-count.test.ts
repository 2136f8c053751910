import { expect, it } from 'vitest'
import { changeQueues } from './change-queues.ts'

it('8, 12, 5 queues while producers and consumers run at full speed and die: each key in order, nothing lost', async () => {
  const outcome = await changeQueues({
    producers: 2,
    consumers: 2,
    keys: 30,
    rounds: 80,
    firstQueues: 8,
    steps: [
      { at: 0.05, what: 12 },
      { at: 0.15, what: 'kill' },
      { at: 0.3, what: 5 },
      { at: 0.35, what: 'kill' },
    ],
  })
  expect(outcome.problems).toEqual([])
  expect(outcome.kills).toBe(2)
  expect(outcome.held).toEqual([true, true])
  expect(outcome.runs).toBeGreaterThanOrEqual(4800)
}, 60_000)
