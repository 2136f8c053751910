import type { Message, Producer } from '../../../src/core/index.ts'

/** Where the messages that a test sent are, by the numbers in their bodies. */
export class Sent {
  readonly places: {
    readonly n: number
    readonly key: string
    readonly queueId: number
    readonly offset: number
  }[] = []
  readonly #producer: Producer

  constructor(producer: Producer) {
    this.#producer = producer
  }

  /** Sends as many messages, numbered on, in one batch. */
  async send(count: number, keyOf: (n: number) => string): Promise<void> {
    const first = this.places.length
    const keys = Array.from({ length: count }, (_, i) => keyOf(first + i))
    const messages = keys.map((key, i): Message => ({ topic: 't', key, body: String(first + i) }))
    const { result } = await this.#producer.sendBatch(messages)
    for (const [i, key] of keys.entries()) {
      const { queueId, queueOffset } = result(i)
      this.places.push({ n: first + i, key, queueId, offset: queueOffset as number })
    }
  }
}
