import { Chance } from './chance.ts'
import type { Weather } from './world.ts'

/** What is done to the processes, the clock and the store while they work. */
export const STRIKES = [
  'kill',
  'stop',
  'join',
  'leave',
  'step-wall-clock',
  'force-release',
  'trim',
  'replay',
  'lose-liveness',
] as const
export type Strike = (typeof STRIKES)[number]

/**
 * How a message behaves in a handler. `poison` fails always, `flaky` now and then, `rejected` wants to be a dead
 * letter, `fatal` takes its consumer's process with it. Replayed ones tend to succeed.
 */
export type MessageKind = 'good' | 'flaky' | 'poison' | 'rejected' | 'fatal'

export interface GroupPlan {
  readonly name: string
  readonly members: number
  readonly maxReconsumeTimes: number
  readonly batch: number
  readonly threads: number
  readonly handler: 'function' | 'process'
  /** Tags that are wanted; `undefined`: all. */
  readonly tags: readonly string[] | undefined
  readonly drainTimeoutMs: number
}

export interface Plan {
  readonly seed: number
  readonly topics: readonly { readonly name: string; readonly queues: number }[]
  readonly groups: readonly GroupPlan[]
  readonly membersMax: number
  readonly messages: number
  readonly producers: number
  readonly sendGapMs: number
  readonly sendBatchMax: number
  readonly keys: number
  readonly kinds: Readonly<Record<MessageKind, number>>
  readonly lockTtlMs: number
  readonly suspendMs: number
  /** Usual and longest run of a handler; the longest may outlive a lease. */
  readonly handlerMs: number
  readonly handlerMsMax: number
  readonly failRate: number
  readonly weather: Weather
  readonly chaosMs: number
  /** Chance of a strike at the boundary of a call to the broker, and at any other event. */
  readonly strikeAtCall: number
  readonly strikeElsewhere: number
  readonly strikes: Readonly<Record<Strike, number>>
  /** Share of restarted members that come back under the client id of the dead one. */
  readonly sameIdRate: number
  readonly restartMs: number
}

export const TAGS = ['a', 'b', 'c'] as const

/**
 * Draws a schedule. Swarm testing: each one leaves some kinds of trouble out altogether and weighs the others
 * wildly, so that rare combinations are not drowned by an even mixture of everything.
 */
export function drawPlan(seed: number): { readonly plan: Plan; readonly chance: Chance } {
  const chance = new Chance(Math.imul(seed, 0x9e3779b1))
  const lockTtlMs = chance.int(2, 10) * 100
  const containers = chance.hit(0.15)
  const groups = Array.from({ length: chance.hit(0.15) ? 2 : 1 }, (_, i) =>
    drawGroup(chance, i, lockTtlMs, containers),
  )
  const topics = Array.from({ length: chance.hit(0.15) ? 2 : 1 }, (_, i) => ({
    name: `t${i}`,
    queues: chance.int(1, 3),
  }))
  const plan: Plan = {
    seed,
    topics,
    groups,
    membersMax: 4,
    messages: chance.int(10, 40),
    producers: chance.int(1, 2),
    sendGapMs: chance.pick([2, 20, 60]) ?? 20,
    sendBatchMax: chance.hit(0.5) ? 1 : 6,
    keys: chance.int(1, 8),
    kinds: {
      good: 12,
      flaky: weight(chance, 0.5),
      poison: weight(chance, 0.5) / 4,
      rejected: weight(chance, 0.5) / 4,
      fatal: weight(chance, 0.6) / 4,
    },
    lockTtlMs,
    suspendMs: chance.pick([0, 10, 50]) ?? 10,
    handlerMs: chance.pick([0, 3, 15]) ?? 3,
    handlerMsMax: chance.hit(0.5) ? 30 : lockTtlMs * 2,
    failRate: chance.hit(0.5) ? 0 : chance.between(0, 0.2),
    weather: {
      callDelayMs: chance.pick([0, 1, 5, 20]) ?? 1,
      wakeLoss: chance.pick([0, 0.3, 1]) ?? 0,
      wakeDelayMs: chance.pick([0, 1, 30]) ?? 1,
      containers,
    },
    chaosMs: chance.int(500, 2500),
    strikeAtCall: chance.pick([0, 0.005, 0.02, 0.05]) ?? 0.02,
    strikeElsewhere: chance.pick([0.001, 0.005, 0.01]) ?? 0.001,
    strikes: {
      kill: 2 * weight(chance, 0.2),
      stop: 2 * weight(chance, 0.3),
      join: weight(chance, 0.3),
      leave: weight(chance, 0.3),
      'step-wall-clock': weight(chance, 0.5),
      'force-release': weight(chance, 0.7) / 2,
      trim: weight(chance, 0.6),
      replay: 2 * weight(chance, 0.3),
      'lose-liveness': weight(chance, 0.7) / 2,
    },
    sameIdRate: chance.pick([0, 0.5, 1]) ?? 0,
    restartMs: chance.pick([5, 100, 600]) ?? 100,
  }
  return { plan, chance }
}

function drawGroup(chance: Chance, index: number, lockTtlMs: number, containers: boolean): GroupPlan {
  return {
    name: `g${index}`,
    members: chance.int(1, 3),
    maxReconsumeTimes: chance.pick([-1, 0, 1, 2, 3]) ?? 1,
    batch: chance.hit(0.7) ? 1 : 3,
    threads: chance.hit(0.7) ? 20 : 1,
    // In containers of their own nobody can see whether the handler of a dead owner still runs.
    handler: !containers && chance.hit(0.3) ? 'process' : 'function',
    tags: chance.hit(0.15) ? ['a', 'b'] : undefined,
    drainTimeoutMs: chance.pick([10, lockTtlMs, 10_000]) ?? 10_000,
  }
}

/** Nothing with this chance, else from 1 to 8, small ones as often as large ones. */
function weight(chance: Chance, off: number): number {
  return chance.hit(off) ? 0 : 2 ** chance.between(0, 3)
}
