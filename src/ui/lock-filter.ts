import type { LockFilter } from '../core/index.ts'

/** The locks that flags mean; an absent flag means all. */
export function lockFilterOf(flags: {
  readonly group?: string | undefined
  readonly topic?: string | undefined
  readonly queue?: number | undefined
}): LockFilter {
  return {
    ...(flags.group === undefined ? undefined : { group: flags.group }),
    ...(flags.topic === undefined ? undefined : { topic: flags.topic }),
    ...(flags.queue === undefined ? undefined : { queueId: flags.queue }),
  }
}
