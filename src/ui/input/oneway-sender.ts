import {
  type BatchResult,
  type Broker,
  type Message,
  Producer,
  type ProducerOptions,
  RmqError,
  type SendOptions,
} from '../../core/index.ts'
import { formatCount, formatPlural } from '../quantities.ts'

/** Sends one way what comes in batches, and counts what was lost: a command that ends must have said so. */
export class OnewaySender {
  readonly #producer: Producer
  #lost = 0
  #firstError: unknown

  constructor(broker: Broker, options: ProducerOptions) {
    this.#producer = new Producer(broker, {
      ...options,
      onOnewayError: (error) => {
        if (this.#lost++ === 0) this.#firstError = error
      },
    })
  }

  /** Resolves when each of them is stored or lost. The result counts those that are stored, and has no ids. */
  async sendBatch(messages: readonly Message[], options: SendOptions): Promise<BatchResult> {
    const before = this.#lost
    for (const message of messages) this.#producer.sendOneway(message, options)
    await this.#producer.flush()
    return {
      count: messages.length - (this.#lost - before),
      result: (i) => {
        throw new RangeError(`a one-way send has no result ${i}`)
      },
    }
  }

  /** Throws when something was lost: PARTIAL beside `sent` that were stored, else why nothing was. */
  refuseLoss(sent: number): void {
    const error = this.#firstError
    if (this.#lost === 0) return
    if (sent === 0 || !(error instanceof RmqError)) throw error
    const what = `${formatCount(this.#lost)} of ${formatPlural(this.#lost + sent, 'message')} were lost`
    throw new RmqError('PARTIAL', `${what}: ${error.message}`, {
      why: [error.why, 'a one-way send is not tried again'].filter((part) => part !== undefined).join('; '),
      hint: 'send without --oneway: it stops at the first message that cannot be stored, and names it',
      details: { sent, lost: this.#lost, cause: error.code },
      cause: error,
    })
  }
}
