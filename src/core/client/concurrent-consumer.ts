import type { Broker } from '../broker.ts'
import type { ConsumerStatus } from '../model/group.ts'
import { Consumer } from './consumer.ts'
import type { ConsumerSummary } from './consumer-events.ts'
import type { ConcurrentConsumerOptions } from './consumer-options.ts'
import type { Handler, MessageListener } from './listener.ts'

/**
 * Consumes topics with several handlers at once, in no order (RocketMQ `DefaultMQPushConsumer` with a
 * `MessageListenerConcurrently`). What fails comes again through the group's retry topic, after RocketMQ's delays,
 * and after 16 further tries it is a dead letter. It starts once.
 */
export class ConcurrentConsumer {
  readonly #consumer: Consumer

  constructor(broker: Broker, options: ConcurrentConsumerOptions) {
    this.#consumer = new Consumer(broker, 'concurrent', options)
  }

  get clientId(): string {
    return this.#consumer.clientId
  }

  status(): ConsumerStatus {
    return this.#consumer.status()
  }

  /** As `OrderlyConsumer.start`. */
  start(
    listener: MessageListener | Handler,
    run: { readonly signal?: AbortSignal } = {},
  ): Promise<ConsumerSummary> {
    return this.#consumer.start(listener, run)
  }
}
