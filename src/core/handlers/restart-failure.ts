import { RmqError } from '../model/errors.ts'

/** Something that cannot work: it ended so often before it took a message. No message is to blame. */
export function endedBeforeWork(
  handler: string,
  starts: number,
  reasons: readonly string[],
  about: { readonly hint: string; readonly details: Readonly<Record<string, unknown>> },
): RmqError {
  return new RmqError(
    'HANDLER_FAILED',
    `the handler ended ${starts} times before it took a message: ${handler}`,
    {
      why: reasons.filter((text) => text !== '').join(': '),
      hint: about.hint,
      details: { ...about.details, starts },
    },
  )
}
