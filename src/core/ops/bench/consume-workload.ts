import { invariant } from '../../model/errors.ts'
import type { MessageExt } from '../../model/message.ts'
import type { Runtime } from '../../model/runtime.ts'
import type { Measure } from './rounds.ts'

/**
 * The handler of a measured consumer. It measures from its first message to its last, without the time that
 * joining and leaving the group takes, and checks the order of every queue: a fast but wrong consumer has no rate.
 */
export class ConsumptionMeter {
  readonly #runtime: Runtime
  readonly #expected: number
  readonly #nextOffsets: number[] = []
  #count = 0
  #firstAt = 0
  #lastAt = 0

  constructor(runtime: Runtime, expected: number) {
    this.#runtime = runtime
    this.#expected = expected
  }

  readonly onMessage = ({ queueId, queueOffset }: Pick<MessageExt, 'queueId' | 'queueOffset'>): void => {
    const due = this.#nextOffsets[queueId] ?? 0
    if (queueOffset !== due)
      invariant(false, `queue ${queueId} gave offset ${queueOffset} where ${due} was due`)
    this.#nextOffsets[queueId] = queueOffset + 1
    if (this.#count === 0) this.#firstAt = this.#runtime.monotonic()
    if (++this.#count === this.#expected) this.#lastAt = this.#runtime.monotonic()
  }

  measure(): Measure {
    invariant(this.#count === this.#expected, `${this.#count} of ${this.#expected} messages were consumed`)
    return { count: this.#count, ms: this.#lastAt - this.#firstAt }
  }
}
