import type { Broker } from '../broker.ts'
import type { DeadLetterFilter } from '../model/dead-letter.ts'

/** Dead letters that are deleted in one transaction: bounds memory, a body may have 4 MiB. */
const PAGE_SIZE = 100

export interface PurgeOptions {
  readonly group: string
  /** An empty one means all that are dead or parked. */
  readonly filter: DeadLetterFilter
  /** Stops between two pages. */
  readonly signal?: AbortSignal
  /** Called after each page with how many are gone by now. */
  readonly onProgress?: (purged: number) => void
}

export interface PurgeSummary {
  /** Deleted for good. */
  readonly purged: number
  /** Matching ones that are still there: replayed since, or not reached because it was stopped. */
  readonly left: number
  /** Dead and parked ones that the group has now, whatever the filter. */
  readonly remaining: number
  readonly interrupted: boolean
}

/** Deletes dead letters of a group, page by page; stopped or killed it can be run again and goes on. */
export async function purgeDeadLetters(broker: Broker, options: PurgeOptions): Promise<PurgeSummary> {
  const { group, filter, signal, onProgress } = options
  let purged = 0
  let after: string | undefined
  do {
    const page = await broker.deadLetters.list(group, filter, {
      limit: PAGE_SIZE,
      ...(after === undefined ? {} : { after }),
    })
    purged += await broker.deadLetters.purge(page.deadLetters)
    onProgress?.(purged)
    after = page.next ?? undefined
  } while (after !== undefined && !signal?.aborted)
  const count = async (which: DeadLetterFilter) =>
    (await broker.deadLetters.count(group, which)).get(group) ?? 0
  return { purged, left: await count(filter), remaining: await count({}), interrupted: after !== undefined }
}
