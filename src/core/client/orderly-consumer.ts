import type { Broker } from '../broker.ts'
import type { ConsumerStatus } from '../model/group.ts'
import { Consumer } from './consumer.ts'
import type { ConsumerSummary } from './consumer-events.ts'
import type { OrderlyConsumerOptions } from './consumer-options.ts'
import type { Handler, MessageListener } from './listener.ts'

/**
 * Consumes topics in order, one message of a queue (or of a key, with `perKey`) at a time, under the queue's lock
 * (RocketMQ `DefaultMQPushConsumer` with a `MessageListenerOrderly`). It starts once.
 */
export class OrderlyConsumer {
  readonly #consumer: Consumer

  constructor(broker: Broker, options: OrderlyConsumerOptions) {
    this.#consumer = new Consumer(broker, 'orderly', options)
  }

  get clientId(): string {
    return this.#consumer.clientId
  }

  status(): ConsumerStatus {
    return this.#consumer.status()
  }

  /**
   * Consumes until the signal is aborted or an end condition holds; then running handlers end, offsets are stored,
   * locks released. Rejects with TOPIC_NOT_FOUND, GROUP_CONFLICT, CLIENT_ID_IN_USE at the start, HANDLER_NOT_FOUND
   * or a store error later: also then everything is released.
   */
  start(
    listener: MessageListener | Handler,
    run: { readonly signal?: AbortSignal } = {},
  ): Promise<ConsumerSummary> {
    return this.#consumer.start(listener, run)
  }
}
