import type { ConsumeResult } from '../client/listener.ts'

/** A stop did not wait any longer. */
export const ENDED_BY_STOP: ConsumeResult = { status: 'retry', error: 'ended by the stop' }
/** `runsIn` was refused: another client owns the queue, nothing was begun. */
export const LOCK_LOST: ConsumeResult = {
  status: 'retry',
  error: 'the queue lock was lost before the handler began',
}
