import { invariant } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import type { Runtime } from '../../model/runtime.ts'
import { Pace } from '../pace.ts'
import { MessageSource } from './messages.ts'
import type { ProducerOrder } from './orders.ts'
import { type BenchProducer, commitSize, measureSend, type SendMode } from './send-workload.ts'
import type { BenchSettings } from './settings.ts'
import { stamped } from './stamp.ts'

/** Commits between two looks at the clock, while sending for a given time. */
const COMMITS_PER_LOOK = 4

/** What a producer process does with its orders. */
export class ProducerRole {
  readonly #producer: BenchProducer
  readonly #settings: BenchSettings
  readonly #runtime: Runtime
  readonly #source: MessageSource

  /** `runtime.random` differs from process to process, so that they do not all send the same messages. */
  constructor(producer: BenchProducer, settings: BenchSettings, runtime: Runtime) {
    this.#producer = producer
    this.#settings = settings
    this.#runtime = runtime
    this.#source = new MessageSource(settings, runtime.random)
  }

  async handle(order: ProducerOrder): Promise<{ count: number; ms: number } | null> {
    if (order.do === 'send') return await this.#sendFor(order.ms, order.mode)
    await this.#produce(order.count, order.perSecond)
    return null
  }

  /** Sends the same messages again and again: making new ones would take time from the contest. */
  async #sendFor(ms: number, mode: SendMode): Promise<{ count: number; ms: number }> {
    const { batch } = this.#settings
    const { messages } = this.#source.take(commitSize(mode, batch) * COMMITS_PER_LOOK)
    const total = { count: 0, ms: 0 }
    while (total.ms < ms) {
      const measure = await measureSend(this.#producer, mode, messages, batch, this.#runtime)
      total.count += measure.count
      total.ms += measure.ms
    }
    return total
  }

  /** Does not wait for one acknowledgement before the next send: a slow one must not hide that others were due. */
  async #produce(count: number, perSecond: number): Promise<void> {
    const pace = new Pace(perSecond, this.#runtime)
    const sends: Promise<unknown>[] = []
    for (const message of this.#source.take(count).messages) {
      await pace.turn()
      sends.push(this.#producer.send(this.#stamped(message)))
    }
    await Promise.all(sends)
  }

  #stamped(message: Message): Message {
    invariant(typeof message.body !== 'string', 'bodies of a benchmark are bytes')
    return { ...message, body: stamped(message.body, this.#runtime.monotonic()) }
  }
}
