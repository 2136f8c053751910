import type { BatchResult, Message, SendResult } from '../core/index.ts'
import { localTime } from './local-time.ts'
import type { Output } from './output.ts'
import { formatElapsed, formatPlural } from './quantities.ts'
import { isoTime } from './records.ts'

/** `document`: one JSON document for one send; `records`: a line of JSON a message; `text`; `none`. */
export type SendReportForm = 'document' | 'records' | 'text' | 'none'

/** Tells where messages went: each on stdout, all of them together in one line for stderr. */
export class SendReport {
  readonly #out: Output
  readonly #form: SendReportForm
  readonly #now: () => number
  readonly #startedAt: number
  readonly #queues = new Set<number>()
  /** Messages that are stored. */
  sent = 0

  /** `now` is a clock that only goes forward, in milliseconds. */
  constructor(out: Output, form: SendReportForm, now: () => number) {
    this.#out = out
    this.#form = form
    this.#now = now
    this.#startedAt = now()
  }

  /** Resolves when what it printed has left the process: a slow reader slows the send, and costs no memory. */
  async sentBatch(messages: readonly Message[], batch: BatchResult): Promise<void> {
    this.sent += batch.count
    if (this.#form === 'none') return
    if (this.#form === 'document') {
      await this.#out.json({ sent: messages.map((message, i) => record(message, batch.result(i))) })
      return
    }
    let text = ''
    for (let i = 0; i < batch.count; i++) {
      const result = batch.result(i)
      this.#queues.add(result.queueId)
      text += this.#line(messages[i], result)
    }
    await this.#out.write(text)
  }

  /** `sent 13,341 messages to 8 queues of orders in 1.2 s`. */
  summary(topic: string): string {
    const queues = this.#queues.size > 0 ? `${formatPlural(this.#queues.size, 'queue')} of ` : ''
    return `sent ${formatPlural(this.sent, 'message')} to ${queues}${topic} in ${formatElapsed(this.#elapsed)}`
  }

  /** The same while it runs. */
  progress(topic: string): string {
    const rate = Math.round((this.sent / Math.max(this.#elapsed, 1)) * 1000)
    return `sent ${formatPlural(this.sent, 'message')} to ${topic}, ${formatPlural(rate, 'message')}/s`
  }

  get #elapsed(): number {
    return this.#now() - this.#startedAt
  }

  #line(message: Message | undefined, result: SendResult): string {
    const { msgId, queueId, queueOffset, deliverAt } = result
    if (this.#form === 'records') return `${JSON.stringify(record(message, result))}\n`
    const { terminal } = this.#out
    if (deliverAt !== undefined) {
      return terminal
        ? `${msgId}  queue ${queueId}  due ${localTime(deliverAt)}\n`
        : `${msgId}\t${queueId}\tdue ${isoTime(deliverAt)}\n`
    }
    if (terminal) return `${msgId}  queue ${queueId}  offset ${queueOffset}\n`
    return `${msgId}\t${queueId}\t${queueOffset}\n`
  }
}

function record(message: Message | undefined, result: SendResult) {
  const { msgId, topic, queueId, queueOffset, sendStatus, deliverAt } = result
  const due = deliverAt === undefined ? undefined : { deliverAt: isoTime(deliverAt) }
  return { msgId, topic, queueId, queueOffset, ...due, key: message?.key ?? null, status: sendStatus }
}
