import { median } from './statistics.ts'

/** How much was done, and how long it took. */
export interface Measure {
  readonly count: number
  readonly ms: number
}

/** Runs one round and measures it. `round` is 0 for the one that only warms up. */
export type Side = (round: number) => Measure | Promise<Measure>

/** Two sides of the same work, a second. */
export interface Comparison {
  readonly rate: number
  readonly raw: number
  /** Median of the rounds' own ratios: both halves of a round saw the same noise. */
  readonly ratio: number
}

/**
 * Runs both sides in turns and takes medians, so that a noisy machine does not decide: whatever slows it down
 * for a while slows both. Which side goes first changes with every round.
 */
export async function compareInRounds(ours: Side, raw: Side, rounds: number): Promise<Comparison> {
  const rates: number[] = []
  const raws: number[] = []
  for (let round = 0; round <= rounds; round++) {
    let rawRate = 0
    if (round % 2 === 0) rawRate = perSecond(await raw(round))
    const rate = perSecond(await ours(round))
    if (round % 2 === 1) rawRate = perSecond(await raw(round))
    if (round === 0) continue
    rates.push(rate)
    raws.push(rawRate)
  }
  const ratios = rates.map((rate, i) => rate / (raws[i] ?? Number.NaN))
  return { rate: median(rates), raw: median(raws), ratio: median(ratios) }
}

export function perSecond({ count, ms }: Measure): number {
  return (count * 1000) / ms
}
