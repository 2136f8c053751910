import { RmqError } from '../model/errors.ts'
import type { Runtime } from '../model/runtime.ts'

/** A send as its time limit sees it. */
export class SendTimeout {
  /** The time is up: nothing more is begun. */
  isOver = false
  /** The broker has the messages: whether it stores them is no longer in our hands. */
  isHandedOver = false
}

/**
 * Runs a send, with all its tries, for at most `timeoutMs` (RocketMQ `sendMsgTimeout`); without one it takes as
 * long as its broker does. TIMED_OUT.
 */
export function withTimeout<T>(
  runtime: Runtime,
  timeoutMs: number | undefined,
  run: (timeout: SendTimeout) => Promise<T>,
): Promise<T> {
  const timeout = new SendTimeout()
  if (timeoutMs === undefined) return run(timeout)
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) return Promise.reject(badTimeout(timeoutMs))
  return new Promise((resolve, reject) => {
    const cancel = runtime.setTimer(timeoutMs, () => {
      timeout.isOver = true
      reject(timedOut(timeoutMs, timeout.isHandedOver))
    })
    run(timeout).then(resolve, reject).finally(cancel)
  })
}

function timedOut(timeoutMs: number, mayBeStored: boolean): RmqError {
  return new RmqError('TIMED_OUT', `the send took longer than ${timeoutMs} ms`, {
    why: mayBeStored
      ? 'the broker has it and has not answered: it may have been stored, or may be yet'
      : 'it did not reach the broker: nothing was stored',
    hint: mayBeStored
      ? 'look for its key before you send it again, or let its consumer know duplicates'
      : 'send it again',
    details: { timeoutMs, mayBeStored },
  })
}

function badTimeout(timeoutMs: number): RmqError {
  return new RmqError('INVALID_ARGUMENT', `a send cannot have ${timeoutMs} ms`, {
    why: 'timeoutMs is a whole number from 1 on',
    hint: 'leave it out to wait as long as the broker takes',
  })
}
