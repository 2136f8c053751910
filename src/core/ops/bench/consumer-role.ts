import type { Runtime } from '../../model/runtime.ts'
import type { Collected, ConsumerOrder } from './orders.ts'
import { stampOf } from './stamp.ts'

/** Something that consumes until it is told to leave. `leave` resolves when its offsets are stored. */
export interface Membership {
  leave(): Promise<void>
}

/** Joins a group, or begins to read the baseline's file, and calls back for each message's body. */
export type Join = (group: string, onBody: (body: Uint8Array) => void) => Promise<Membership> | Membership

/** What a consumer process does with its orders. */
export class ConsumerRole {
  readonly #join: Join
  readonly #runtime: Runtime
  readonly #stamped: boolean
  #membership: Membership | undefined
  #count = 0
  #firstAt = 0
  #lastAt = 0
  #latencies: number[] = []

  constructor(join: Join, runtime: Runtime, options: { readonly stamped: boolean }) {
    this.#join = join
    this.#runtime = runtime
    this.#stamped = options.stamped
  }

  async handle(order: ConsumerOrder): Promise<Collected | null> {
    switch (order.do) {
      case 'join':
        this.#membership = await this.#join(order.group, this.#onBody)
        return null
      case 'leave':
        await this.#membership?.leave()
        this.#membership = undefined
        return null
      case 'collect':
        return this.#collect()
    }
  }

  readonly #onBody = (body: Uint8Array): void => {
    const now = this.#runtime.monotonic()
    if (this.#count++ === 0) this.#firstAt = now
    this.#lastAt = now
    if (this.#stamped) this.#latencies.push(now - stampOf(body))
  }

  #collect(): Collected {
    const collected = {
      count: this.#count,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      latencies: this.#latencies,
    }
    this.#count = 0
    this.#firstAt = 0
    this.#lastAt = 0
    this.#latencies = []
    return collected
  }
}
