import type {
  ConsumerEvent,
  ConsumerSummary,
  Handler,
  LockHolder,
  MessageExt,
  MessageQueue,
} from '../core/index.ts'
import { formatCount, formatElapsed } from './quantities.ts'

export interface ConsumerReportOptions {
  readonly group: string
  /** Says something; not heard with `--quiet`. */
  readonly say: (text: string) => void
  /** Says something that `--quiet` does not hide. */
  readonly caution: (text: string) => void
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** Says something that can wait, and that is not said at all when it is all over at once. */
  readonly note: (text: string) => void
  /** There are several queues: messages without a key are in no order across them. */
  readonly spread: boolean
  /** What a message that fails in order holds: its whole queue, or its key. */
  readonly holds: 'queue' | 'key'
}

/** The same trouble is told again only after this time. */
const REPEAT_MS = 30_000
/** Troubles remembered, at most: beyond it the oldest are forgotten and may be told once too often. */
const REMEMBERED_MAX = 1000

/** Tells a person on stderr what a consumer runs into. A message that fails again and again does not flood it. */
export class ConsumerReport {
  readonly #options: ConsumerReportOptions
  readonly #told = new Map<string, number>()
  readonly #startedAt: number
  #keylessTold = false
  #unlimitedTold = false

  constructor(options: ConsumerReportOptions) {
    this.#options = options
    this.#startedAt = options.now()
  }

  event(event: ConsumerEvent): void {
    switch (event.kind) {
      case 'retry':
        this.#retry(event)
        break
      case 'dead-lettered':
        this.#options.say(
          `dead-lettered ${nameOf(event.message)} after ${attemptsOf(event.attempts)}: ${reasonOf(event.error)} ` +
            `(rmq dlq show -g ${this.#options.group} ${event.message.msgId})`,
        )
        break
      case 'parked':
        if (this.#isNews(`parked ${event.message.key}`)) {
          this.#options.say(
            `parked ${nameOf(event.message)} behind the dead letter of its key ` +
              `(rmq dlq replay -g ${this.#options.group}${keyFilter(event.message)})`,
          )
        }
        break
      case 'dropped':
        this.#options.caution(
          `gave up ${nameOf(event.message)}: ${reasonOf(event.error)}; a broadcasting group has no dead letters`,
        )
        break
      case 'timed-out':
        this.#options.caution(
          `${nameOf(event.message)} runs longer than ${formatElapsed(event.afterMs)} and was sent back; its handler still runs`,
        )
        break
      case 'blocked':
        this.#options.caution(
          `${nameOf(event.message)} failed ${attemptsOf(event.attempts)} and blocks its ${this.#options.holds} until a person helps: ` +
            `${reasonOf(event.error)} (rmq groups describe ${this.#options.group})`,
        )
        break
      case 'lock-lost':
        this.#options.caution(lockLost(event.mq, event.refusedCommit))
        break
      case 'waiting-for-lock':
        this.#waiting(event.mq, event.holder)
        break
      case 'offset-moved':
        this.#options.caution(
          `${placeOf(event.mq)} goes on at offset ${event.to}: ${event.from} is not there (any more)`,
        )
        break
      case 'notice':
        if (this.#isNews(`notice ${event.text}`)) this.#options.caution(event.text)
        break
      case 'queue-acquired':
        if (event.unclean) {
          this.#options.say(`took over ${placeOf(event.mq)}; what its last owner had in work comes again`)
        }
        break
      case 'queue-released':
        break
    }
  }

  /** The same handler, whose messages this report sees on their way. */
  watch(handler: Handler): Handler {
    if (!this.#options.spread) return handler
    return {
      kind: handler.kind,
      consume: (messages, context) => {
        if (!this.#keylessTold) this.#delivered(messages)
        return handler.consume(messages, context)
      },
      ...(handler.open && { open: () => handler.open?.() ?? Promise.resolve() }),
      close: () => handler.close(),
    }
  }

  #delivered(messages: readonly MessageExt[]): void {
    const keyless = messages.find((message) => message.key === null)
    if (keyless === undefined) return
    this.#keylessTold = true
    this.#options.note(
      `${nameOf(keyless)} has no key: such messages are spread over the queues and are in order only within a queue`,
    )
  }

  /** The last line of a run. `signal` is the one that ended it. */
  summary(summary: ConsumerSummary, signal: NodeJS.Signals | undefined): string {
    const { consumed, deadLettered, parked, sentBack, dropped, failed } = summary
    const counts = [`consumed ${formatCount(consumed)}`]
    if (deadLettered > 0) counts.push(`dead-lettered ${formatCount(deadLettered)}`)
    if (parked > 0) counts.push(`parked ${formatCount(parked)}`)
    if (sentBack > 0) counts.push(`sent back for a retry ${formatCount(sentBack)}`)
    if (dropped > 0) counts.push(`given up ${formatCount(dropped)}`)
    if (failed > 0) counts.push(`failed runs ${formatCount(failed)}`)
    const why = signal === undefined ? '' : `stopped by ${signal}: `
    const end = summary.drained ? '' : '; a handler was cut short, its messages come again'
    return `${why}${counts.join(', ')} in ${formatElapsed(this.#options.now() - this.#startedAt)}${end}`
  }

  #retry(event: ConsumerEvent & { readonly kind: 'retry' }): void {
    const { message, attempts, maxReconsumeTimes, error, afterMs } = event
    if (maxReconsumeTimes === null && !this.#unlimitedTold) {
      this.#unlimitedTold = true
      this.#options.caution(
        `a failing message holds its ${this.#options.holds} for ever: ` +
          'retries are unlimited (--max-reconsume N gives them an end)',
      )
    }
    if (!this.#isNews(`retry ${message.msgId}`)) return
    const most = maxReconsumeTimes === null ? 'unlimited' : String(maxReconsumeTimes + 1)
    this.#options.say(
      `attempt ${attempts} of ${most} of ${nameOf(message)} failed: ${reasonOf(error)}; ` +
        `next try in ${formatElapsed(afterMs)}`,
    )
  }

  #waiting(mq: MessageQueue, holder: LockHolder | null): void {
    if (!this.#isNews(`lock ${placeOf(mq)} ${holder?.clientId} ${holder?.state}`)) return
    this.#options.say(`${placeOf(mq)} waits for ${lockOf(holder)}`)
  }

  /** True the first time, and again after a while. */
  #isNews(what: string): boolean {
    const now = this.#options.now()
    const last = this.#told.get(what)
    if (last !== undefined && now - last < REPEAT_MS) return false
    this.#told.delete(what)
    this.#told.set(what, now)
    if (this.#told.size > REMEMBERED_MAX) {
      for (const oldest of this.#told.keys()) {
        this.#told.delete(oldest)
        break
      }
    }
    return true
  }
}

function lockOf(holder: LockHolder | null): string {
  if (holder === null) return 'its lock'
  const who = `${holder.clientId} (${holder.pid}@${holder.host})`
  const longest = `at most ${formatElapsed(holder.expiresInMs)}`
  if (holder.state === 'handler-running') return `a handler that ${who} left running when it died, ${longest}`
  if (holder.state === 'unproven')
    return `the lock of ${who}, ${longest}; whether that process lives is unproven`
  return `the lock of ${who}, ${longest} after its last renewal`
}

function lockLost(mq: MessageQueue, refusedCommit: boolean): string {
  const lost = `the lock of ${placeOf(mq)} went to another consumer`
  return refusedCommit
    ? `${lost}: the commit was refused, what was not committed comes again there`
    : `${lost}: what was not committed comes again there`
}

/** A message that comes again through the retry topic is named by the place that its sender knows. */
function nameOf({ msgId, key, origin, ...stored }: MessageExt): string {
  const { topic, queueId, queueOffset } = origin ?? stored
  const keyed = key === null ? '' : `, key ${JSON.stringify(key)}`
  return `message ${msgId} (${topic} queue ${queueId} offset ${queueOffset}${keyed})`
}

/** Where the shell would read something else into the key, the command is left to ask. */
function keyFilter({ key }: MessageExt): string {
  return key !== null && /^\w[\w.:@/-]*$/.test(key) ? ` --key ${key}` : ''
}

function placeOf({ topic, queueId }: MessageQueue): string {
  return `${topic} queue ${queueId}`
}

function attemptsOf(attempts: number): string {
  return attempts === 1 ? '1 attempt' : `${attempts} attempts`
}

/** The last line of what a handler said; the whole of it is kept with the message. */
function reasonOf(error: string | null): string {
  const lines = (error ?? '').split('\n').filter((line) => line.trim() !== '')
  return lines.at(-1)?.trim() ?? 'no reason given'
}
