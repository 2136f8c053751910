import { invariant } from '../../model/errors.ts'
import type { MessageExt } from '../../model/message.ts'
import type { Runtime } from '../../model/runtime.ts'
import type { Measure } from './rounds.ts'

/** Of each queue, of each key, or none: then every message has to come, and none twice. */
export type MessageOrder = 'queue' | 'key' | 'none'

/** What a meter looks at. */
export type MeteredMessage = Pick<MessageExt, 'queueId' | 'queueOffset' | 'key'>

/**
 * The handler of a measured consumer. It measures from its first message to its last, without the time that
 * joining and leaving the group takes, and checks the order: a fast but wrong consumer has no rate.
 */
export class ConsumptionMeter {
  readonly #runtime: Runtime
  readonly #expected: number
  readonly #check: (message: MeteredMessage) => void
  #count = 0
  #firstAt = 0
  #lastAt = 0

  constructor(runtime: Runtime, expected: number, order: MessageOrder = 'queue') {
    this.#runtime = runtime
    this.#expected = expected
    this.#check = CHECKS[order]()
  }

  readonly onMessage = (message: MeteredMessage): void => {
    this.#check(message)
    if (this.#count === 0) this.#firstAt = this.#runtime.monotonic()
    if (++this.#count === this.#expected) this.#lastAt = this.#runtime.monotonic()
  }

  measure(): Measure {
    invariant(this.#count === this.#expected, `${this.#count} of ${this.#expected} messages were consumed`)
    return { count: this.#count, ms: this.#lastAt - this.#firstAt }
  }
}

/** Gaps are the filter's: what is lost shows in the count. */
const CHECKS: Readonly<Record<MessageOrder, () => (message: MeteredMessage) => void>> = {
  queue: () => {
    const last: number[] = []
    return ({ queueId, queueOffset }) => {
      const before = last[queueId] ?? -1
      if (queueOffset <= before)
        invariant(false, `queue ${queueId} gave offset ${queueOffset} behind ${before}`)
      last[queueId] = queueOffset
    }
  },
  key: () => {
    const last = new Map<string, number>()
    return ({ queueOffset, key }) => {
      const before = last.get(key ?? '') ?? -1
      if (queueOffset <= before) invariant(false, `key ${key} gave offset ${queueOffset} behind ${before}`)
      last.set(key ?? '', queueOffset)
    }
  },
  none: () => {
    const seen: boolean[][] = []
    return ({ queueId, queueOffset }) => {
      seen[queueId] ??= []
      const ofQueue = seen[queueId]
      if (ofQueue[queueOffset]) invariant(false, `queue ${queueId} gave offset ${queueOffset} twice`)
      ofQueue[queueOffset] = true
    }
  },
}
