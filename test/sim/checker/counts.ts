import { hold } from '../broken-invariant.ts'
import type { SimProcess } from '../process.ts'
import type { AttemptState } from '../store-view.ts'
import { bump, type GroupQueue, lastRunOf, placeName, positionKey } from './model.ts'

interface Position {
  readonly offset: number
  readonly replay: number
}

/** Attempts as they must be counted: what the calls that were accepted add up to, against what is stored. */
export class Counts {
  started(place: GroupQueue, process: SimProcess, positions: readonly Position[]): void {
    for (const { offset, replay } of positions) {
      const key = positionKey(offset, replay)
      bump(place.counted, key)
      bump(place.charges, key)
      place.announced.set(key, process)
    }
  }

  failed(place: GroupQueue, process: SimProcess, positions: readonly Position[]): void {
    for (const { offset, replay } of positions) {
      const key = positionKey(offset, replay)
      // A stored start was counted then.
      if (lastRunOf(place, key, process)?.isStored === false) bump(place.counted, key)
    }
  }

  released(place: GroupQueue, positions: readonly Position[]): void {
    for (const { offset, replay } of positions) {
      const key = positionKey(offset, replay)
      bump(place.counted, key, -1)
      bump(place.charges, key, -1)
      place.announced.delete(key)
    }
  }

  observe(place: GroupQueue, rows: readonly AttemptState[]): void {
    place.attempts = new Map(rows.map((row) => [positionKey(row.offset, row.replay), row]))
    const most = place.group.maxReconsumeTimes
    for (const [key, { attempts, offset }] of place.attempts) {
      const what = () => `${placeName(place)}: ${attempts} attempts of ${offset} are stored`
      const counted = place.counted.get(key) ?? 0
      hold(attempts === counted, 3, () => `${what()}; ${counted} were made`)
      const charges = place.charges.get(key) ?? 0
      hold(attempts <= charges, 3, () => `${what()}; only ${charges} runs began`)
      hold(most < 0 || attempts <= most + 1, 3, () => `${what()}; ${most + 1} are the most`)
    }
  }
}
