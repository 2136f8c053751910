import type { ConsumeResult } from '../client/listener.ts'

/**
 * One result for the messages of a batch that were answered one by one.
 *
 * When all are good it is that of the last: a commit in the middle says nothing of what follows it. Else it is the first
 * failure in the order of the batch, which is what a batch of the orderly service has as a whole, and `results` say
 * which messages failed. `ackIndex` was rejected: it can say neither that one in the middle failed, nor that one of them
 * is for the dead letters while its neighbours are not.
 */
export function batchResult(results: readonly ConsumeResult[]): ConsumeResult {
  const failure = results.find(isFailure)
  if (failure !== undefined) return results.length === 1 ? failure : { ...failure, results }
  // Not a failure by itself: without manual commit a rollback is a success, as in RocketMQ.
  return results.find(({ status }) => status === 'rollback') ?? results.at(-1) ?? { status: 'success' }
}

function isFailure({ status }: ConsumeResult): boolean {
  return status === 'retry' || status === 'dead-letter'
}
