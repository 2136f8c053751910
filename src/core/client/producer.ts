import type { Broker, SendGroup } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { ONEWAY_PENDING_MAX, SEND_RETRIES_DEFAULT, SEND_RETRY_MS } from '../model/limits.ts'
import type { Message, SendReceipt } from '../model/message.ts'
import { checkMessage } from '../model/message-check.ts'
import { type QueueChoice, takesAnyQueue } from './choose-queue.ts'
import { placeMessages } from './place-messages.ts'
import { PublishRoutes, type PublishRoutesOptions } from './publish-routes.ts'
import { type BatchResult, batchResult, type SendResult } from './send-result.ts'
import { SendRetries } from './send-retries.ts'
import { type SendTimeout, withTimeout } from './send-timeout.ts'

export type { BatchResult, SendResult } from './send-result.ts'

export interface ProducerOptions extends PublishRoutesOptions {
  /** Create a topic on its first message, with 8 queues. Default true. */
  readonly createTopics?: boolean
  /**
   * Further tries of a send that failed with nothing stored, each on the next queue; default 2. None begins later than
   * 3 s after the send, or `timeoutMs`. Only where any queue will do: a message with a key, a selector or a queue id
   * is never tried on another one.
   */
  readonly retryTimesWhenSendFailed?: number
  /** Hears of one-way sends that failed; nobody else does. */
  readonly onOnewayError?: (error: unknown, message: Message) => void
}

export interface SendOptions extends QueueChoice {
  /**
   * Milliseconds for the send with all its tries; TIMED_OUT says whether it may have been stored. Default: none on a
   * file, where the store itself gives up after 10 s, with a definite answer.
   */
  readonly timeoutMs?: number
}

/**
 * Sends messages (RocketMQ `DefaultMQProducer`). A send resolves when the message is durable; awaited it is
 * RocketMQ's synchronous send, not awaited its asynchronous one, without the callback. Sends of one producer reach
 * the broker in the order in which they are called, also those that are not awaited.
 *
 * Order of a key: its messages go to one queue. When the topic's number of queues changed under a send, the queue is
 * selected again, on a new route; a custom selector is called again then. A send that failed is otherwise never
 * moved to another queue.
 */
export class Producer implements AsyncDisposable {
  readonly #broker: Broker
  readonly #options: ProducerOptions
  readonly #routes: PublishRoutes
  readonly #oneways = new Set<Promise<unknown>>()

  constructor(broker: Broker, options: ProducerOptions = {}) {
    this.#broker = broker
    this.#options = options
    this.#routes = new PublishRoutes(broker, options)
  }

  /**
   * Sends one message. TOPIC_NOT_FOUND, TOPIC_READ_ONLY, QUEUE_NOT_FOUND, SELECTOR_FAILED, ROUTE_CHANGED,
   * MESSAGE_TOO_LARGE, INVALID_MESSAGE, TIMED_OUT, and what the store runs into.
   */
  async send(message: Message, options: SendOptions = {}): Promise<SendResult> {
    return (await this.sendBatch([message], options)).result(0)
  }

  /**
   * Sends messages in one step, all or none, each to the queue that its selector names; order within a queue is kept.
   * On a file they may be of several topics and queues, delayed or not, and of any size together; RocketMQ's batches
   * are of one queue, not delayed, and 4 MiB at most.
   */
  sendBatch(messages: readonly Message[], options: SendOptions = {}): Promise<BatchResult> {
    const { retryTimesWhenSendFailed = SEND_RETRIES_DEFAULT } = this.#options
    const isFree = messages.every((message) => takesAnyQueue(message, options))
    const retries = new SendRetries({
      runtime: this.#broker.runtime,
      withinMs: options.timeoutMs ?? SEND_RETRY_MS,
      anyQueue: isFree ? retryTimesWhenSendFailed : 0,
      forgetRoutes: () => {
        for (const topic of new Set(messages.map((message) => message.topic))) this.#routes.forget(topic)
      },
    })
    return withTimeout(this.#broker.runtime, options.timeoutMs, (timeout) =>
      this.#send(messages, options, timeout, retries),
    )
  }

  /**
   * Hands a message over and forgets it (RocketMQ `sendOneway`): no result, no further try, and an error is heard
   * only by `onOnewayError`. `flush` waits for what is on its way; a process that ends without it may lose it.
   */
  sendOneway(message: Message, options: QueueChoice = {}): void {
    if (this.#oneways.size >= ONEWAY_PENDING_MAX) {
      this.#options.onOnewayError?.(tooManyOneways(), message)
      return
    }
    const sending = this.#send([message], options)
      .catch((error: unknown) => this.#options.onOnewayError?.(error, message))
      .finally(() => this.#oneways.delete(sending))
    this.#oneways.add(sending)
  }

  /** Resolves when every one-way send up to now is durable, or its error was heard. Rejects with what a listener threw. */
  async flush(): Promise<void> {
    await Promise.all(this.#oneways)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
  }

  /** Without `retries` there is one try. */
  async #send(
    messages: readonly Message[],
    options: SendOptions,
    timeout?: SendTimeout,
    retries?: SendRetries,
  ): Promise<BatchResult> {
    for (;;) {
      try {
        const placed = await placeMessages(messages, options, this.#routes, this.#broker.runtime)
        if (timeout?.isOver) return batchResult([], placed)
        if (timeout) timeout.isHandedOver = true
        return batchResult(await this.#sendGroups(placed.groups, messages), placed)
      } catch (error) {
        if (timeout?.isOver || !retries?.take(error)) throw error
        if (timeout) timeout.isHandedOver = false
      }
    }
  }

  async #sendGroups(
    groups: readonly SendGroup[],
    messages: readonly Message[],
  ): Promise<readonly SendReceipt[]> {
    if (groups.length === 0) return []
    try {
      return await this.#broker.send(groups)
    } catch (error) {
      if (messages.length > 1 && isAboutMessage(error)) await this.#blame(messages)
      throw error
    }
  }

  /** Throws the refusal with the place of the message among all; the broker saw it in a group of its queue. */
  async #blame(messages: readonly Message[]): Promise<void> {
    for (const [index, message] of messages.entries()) {
      const { maxBody } = await this.#routes.get(message)
      try {
        checkMessage(message, maxBody)
      } catch (error) {
        throw isAboutMessage(error) ? atIndex(error, index) : error
      }
    }
  }
}

function isAboutMessage(error: unknown): error is RmqError {
  return error instanceof RmqError && (error.code === 'INVALID_MESSAGE' || error.code === 'MESSAGE_TOO_LARGE')
}

function atIndex(error: RmqError, index: number): RmqError {
  return new RmqError(error.code, `message ${index + 1}: ${error.message}`, {
    ...(error.why !== undefined && { why: error.why }),
    ...(error.hint !== undefined && { hint: error.hint }),
    details: { ...error.details, index },
  })
}

function tooManyOneways(): RmqError {
  return new RmqError('STORE_BUSY', 'a one-way send was dropped', {
    why: `${ONEWAY_PENDING_MAX} of them are on their way already`,
    hint: 'await producer.flush() now and then, or use send()',
  })
}
