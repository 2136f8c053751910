import { pick, seeded } from './random.ts'

/** One kill: when, whom, how hard, and how soon the place is taken by a new consumer. */
export interface PlannedKill {
  /** After so many changes were finished. */
  readonly atProgress: number
  /** Which of those that run then, as a share of them. */
  readonly victim: number
  /** `consumer`: the handler stays behind for as long as it likes. `group`: it dies with its consumer. */
  readonly reach: 'consumer' | 'group'
  readonly restartAfterMs: number
}

export interface Plan {
  readonly kills: readonly PlannedKill[]
  /** How long a handler takes for a change. */
  readonly pauseMs: number
}

/** What a seed decides. The kernel's scheduling stays its own: a seed gives the same plan, not the same run. */
export function makePlan(seed: number, kills: number, total: number): Plan {
  const random = seeded(seed)
  const pauseMs = pick(random, [0, 1, 2, 3])
  const planned = Array.from({ length: kills }, () => ({
    atProgress: Math.floor(total * (0.02 + 0.9 * random())),
    victim: random(),
    reach: pick<'consumer' | 'group'>(random, ['consumer', 'group']),
    restartAfterMs: Math.floor(400 * random()),
  }))
  return { pauseMs, kills: planned.toSorted((a, b) => a.atProgress - b.atProgress) }
}
