import { RmqError, type RmqErrorCode } from '../model/errors.ts'
import { ROUTE_RETRIES_MAX } from '../model/limits.ts'
import type { Runtime } from '../model/runtime.ts'

/**
 * After which failures a send is tried again; all others are final. In each of these nothing was stored.
 * `select-again`: with a new route, by the same rule, also where a key binds the message to its queue: the queue
 * that the old route led to is not the one of its key any more.
 * `any-queue`: RocketMQ's retry on the next queue. Never for a message with a key, a selector or a queue id.
 */
const RETRYABLE: { readonly [code in RmqErrorCode]?: 'select-again' | 'any-queue' } = {
  ROUTE_CHANGED: 'select-again',
  TOPIC_NOT_FOUND: 'select-again',
  QUEUE_NOT_FOUND: 'select-again',
  STORE_BUSY: 'any-queue',
}

export interface SendRetriesOptions {
  readonly runtime: Runtime
  /** Tries on another queue; 0 where the queue matters. */
  readonly anyQueue: number
  /** None of them begins after this time. */
  readonly withinMs: number
  readonly forgetRoutes: () => void
}

/** What is left of the tries of one send. */
export class SendRetries {
  readonly #options: SendRetriesOptions
  readonly #deadline: number
  #anyQueue: number
  #routeChanges = ROUTE_RETRIES_MAX
  #isRouteNew = false

  constructor(options: SendRetriesOptions) {
    this.#options = options
    this.#anyQueue = options.anyQueue
    this.#deadline = options.runtime.monotonic() + options.withinMs
  }

  /** Whether to try again after this failure; counts it. */
  take(error: unknown): boolean {
    if (!(error instanceof RmqError)) return false
    const retry = RETRYABLE[error.code]
    if (retry === undefined) return false
    if (retry === 'any-queue')
      return this.#options.runtime.monotonic() < this.#deadline && this.#anyQueue-- > 0
    // A route that was just asked for knows it: there is no such topic or queue.
    if (error.code !== 'ROUTE_CHANGED' && this.#isRouteNew) return false
    this.#isRouteNew = true
    this.#options.forgetRoutes()
    return this.#routeChanges-- > 0
  }
}
