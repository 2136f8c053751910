import type { ConsumeResult } from '../client/listener.ts'
import type { RmqError } from '../model/errors.ts'

/** `undefined`: the run ended before it took the message. */
export type Answer = ConsumeResult | undefined

/** Messages that a run took, that it answered, and that it answered with success. */
export interface Tally {
  taken: number
  answered: number
  succeeded: number
}

/** One life of something that takes messages for long: a process, or a thread. */
export interface Runner {
  /** Resolves when it may take messages, or has ended before; rejects when it can never take one. */
  readonly ready: Promise<void>
  /** Resolves when it has ended and everything outstanding was settled. Never rejects. */
  readonly ended: Promise<unknown>
  readonly hasEnded: boolean
  /** It was ended from here: its end says nothing about it. */
  readonly isStopping: boolean
  readonly tally: Readonly<Tally>
  /** It ended by itself after all that it took was answered. */
  readonly isDone: boolean
  /** For its end before it took anything, the last of `starts` in a row. */
  failure(starts: number): RmqError
  stop(): Promise<void>
}

/** `Promise.withResolvers` of ES2024, which Node 20 does not have. */
export function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
