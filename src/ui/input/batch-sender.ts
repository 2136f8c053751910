import {
  type BatchResult,
  type Message,
  type Producer,
  RmqError,
  type RmqErrorCode,
  type SendOptions,
} from '../../core/index.ts'

/** Messages and body bytes of one send. Larger ones gain nothing: a durable commit is shared by 1000 already. */
const BATCH_MESSAGES_MAX = 1000
const BATCH_BYTES_MAX = 1024 * 1024

/** Who stores the batches. */
export type BatchProducer = Pick<Producer, 'sendBatch'>

export interface BatchSenderOptions {
  readonly producer: BatchProducer
  readonly send: SendOptions
  /** Called after each batch, in order; the next one waits for it. */
  readonly onSent: OnSent
  /** Called once, as soon as it is known that nothing more will be sent. */
  readonly onFailed: () => void
}

/** Hears of messages that are stored, and of where they are. */
export type OnSent = (messages: readonly Message[], result: BatchResult) => Promise<void> | void

interface Batch {
  readonly messages: Message[]
  /** Where in the input each message stood, for errors. */
  readonly lines: number[]
  bytes: number
}

/**
 * Sends a stream of messages in batches of what has arrived, one batch at a time, so that the order of the input
 * is the order of every queue. While a batch is on its way the next one is filled; a full one holds up its source.
 */
export class BatchSender {
  readonly #options: BatchSenderOptions
  #batch = newBatch()
  #sending: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined
  #isFlushingSoon = false
  /** Messages that are stored. */
  sent = 0

  constructor(options: BatchSenderOptions) {
    this.#options = options
  }

  /** Takes a message. Answers a promise when the source has to wait before it gives another one. */
  add(message: Message, line: number): Promise<void> | undefined {
    const batch = this.#batch
    batch.messages.push(message)
    batch.lines.push(line)
    batch.bytes += message.body.length
    if (!isFull(batch)) return undefined
    this.flush()
    return this.#batch === batch ? this.#room(batch) : undefined
  }

  /** Sends what has arrived, now or as soon as the batch before it is done. */
  flush(): void {
    if (this.#sending || this.#failure || this.#batch.messages.length === 0) return
    const batch = this.#batch
    this.#batch = newBatch()
    this.#sending = this.#send(batch)
      .catch((error: unknown) => {
        this.#failure = { error }
        this.#options.onFailed()
      })
      .finally(() => {
        this.#sending = undefined
        this.flush()
      })
  }

  /** The same a moment later, for a source that probably has more at hand: larger batches, fewer commits. */
  flushSoon(): void {
    if (this.#isFlushingSoon) return
    this.#isFlushingSoon = true
    setImmediate(() =>
      setImmediate(() => {
        this.#isFlushingSoon = false
        this.flush()
      }),
    )
  }

  /** Resolves when everything was sent. Rejects with what stopped it. */
  async finish(): Promise<void> {
    this.flush()
    while (this.#sending) await this.#sending
    if (this.#failure) throw this.#failure.error
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  async #room(full: Batch): Promise<void> {
    while (this.#batch === full && this.#sending) await this.#sending
  }

  async #send(batch: Batch): Promise<void> {
    const { producer, send } = this.#options
    let result: BatchResult
    try {
      result = await producer.sendBatch(batch.messages, send)
    } catch (error) {
      if (!isAboutMessage(error)) throw error
      return await this.#sendUpToBadOne(batch)
    }
    await this.#done(batch.messages, result)
  }

  /** All or none was sent, so none: find the message that is to blame, and send those before it. */
  async #sendUpToBadOne(batch: Batch): Promise<void> {
    for (const [i, message] of batch.messages.entries()) {
      let result: BatchResult
      try {
        result = await this.#options.producer.sendBatch([message], this.#options.send)
      } catch (error) {
        throw isAboutMessage(error) ? atLine(error, batch.lines[i] ?? 0) : error
      }
      await this.#done([message], result)
    }
  }

  async #done(messages: readonly Message[], result: BatchResult): Promise<void> {
    this.sent += result.count
    await this.#options.onSent(messages, result)
  }
}

function newBatch(): Batch {
  return { messages: [], lines: [], bytes: 0 }
}

function isFull({ messages, bytes }: Batch): boolean {
  return messages.length >= BATCH_MESSAGES_MAX || bytes >= BATCH_BYTES_MAX
}

/** Codes that one message of a batch can be to blame for. */
const ABOUT_MESSAGE: ReadonlySet<RmqErrorCode> = new Set([
  'INVALID_ARGUMENT',
  'INVALID_MESSAGE',
  'MESSAGE_TOO_LARGE',
  'SELECTOR_FAILED',
])

function isAboutMessage(error: unknown): error is RmqError {
  return error instanceof RmqError && ABOUT_MESSAGE.has(error.code)
}

/** The same error, naming the line. Line 0: there are no lines. */
function atLine(error: RmqError, line: number): RmqError {
  if (line === 0) return error
  return new RmqError(error.code, `line ${line} cannot be sent: ${error.message}`, {
    ...(error.why === undefined ? undefined : { why: error.why }),
    ...(error.hint === undefined ? undefined : { hint: error.hint }),
    details: { ...error.details, line },
    cause: error,
  })
}
