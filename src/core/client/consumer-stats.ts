import type { TopicStatus } from '../model/group.ts'
import { compareText } from '../model/message-queue.ts'
import { type Runtime, sleep } from '../model/runtime.ts'

/** RocketMQ `StatsItem`: every 10 s for the last minute, every 10 min for the last hour, 7 samples each. */
const SAMPLE_EVERY_MS = 10_000
const SAMPLES = 7
const HOUR_SAMPLE_EVERY = 60
/** A rate over less would be a guess: what came at once would count as thousands a second. */
const WINDOW_MIN_MS = 1_000

/** What happened since the topic was first met. */
interface Counts {
  ok: number
  failed: number
  runs: number
  runMs: number
  pulled: number
  pulls: number
  pullMs: number
}

type Sample = Readonly<Counts> & { readonly at: number }

interface TopicCounts extends Counts {
  readonly minute: Sample[]
  readonly hour: Sample[]
}

/**
 * How fast one member consumes, by topic (RocketMQ `ConsumerStatsManager`, whose keys are topic@group: a member has
 * one group). Counting is a lookup and a few additions; clocks are read when samples are taken.
 */
export class ConsumerStats {
  readonly #runtime: Runtime
  readonly #topics = new Map<string, TopicCounts>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Takes samples from now on. Returns what ends it. */
  start(): () => void {
    const stop = new AbortController()
    void this.#sampling(stop.signal)
    return () => stop.abort()
  }

  /**
   * A handler is done with `count` messages, after `rtMs` milliseconds. One run whose messages ended differently is
   * two calls, the second without a time: response times count runs, as RocketMQ's do.
   */
  consumed(topic: string, count: number, ok: boolean, rtMs?: number): void {
    const counts = this.#of(topic)
    if (ok) counts.ok += count
    else counts.failed += count
    if (rtMs === undefined) return
    counts.runs++
    counts.runMs += rtMs
  }

  /** A pull found `count` messages after `rtMs` milliseconds. Pulls that find nothing do not count: they wait. */
  pulled(topic: string, count: number, rtMs: number): void {
    const counts = this.#of(topic)
    counts.pulled += count
    counts.pulls++
    counts.pullMs += rtMs
  }

  /** By topic name. */
  topics(): readonly TopicStatus[] {
    const now = this.#runtime.monotonic()
    return [...this.#topics]
      .map(([topic, counts]) => statusOf(topic, counts, now))
      .sort((a, b) => compareText(a.topic, b.topic))
  }

  #of(topic: string): TopicCounts {
    return this.#topics.get(topic) ?? this.#meet(topic)
  }

  #meet(topic: string): TopicCounts {
    const none = { ok: 0, failed: 0, runs: 0, runMs: 0, pulled: 0, pulls: 0, pullMs: 0 }
    const first = { ...none, at: this.#runtime.monotonic() }
    const counts = { ...none, minute: [first], hour: [first] }
    this.#topics.set(topic, counts)
    return counts
  }

  async #sampling(stopping: AbortSignal): Promise<void> {
    for (let n = 1; ; n++) {
      await sleep(this.#runtime, SAMPLE_EVERY_MS, stopping)
      if (stopping.aborted) return
      const at = this.#runtime.monotonic()
      for (const { minute, hour, ...counts } of this.#topics.values()) {
        const sample = { ...counts, at }
        keep(minute, sample)
        if (n % HOUR_SAMPLE_EVERY === 0) keep(hour, sample)
      }
    }
  }
}

function keep(samples: Sample[], sample: Sample): void {
  samples.push(sample)
  if (samples.length > SAMPLES) samples.shift()
}

function statusOf(topic: string, { minute, hour, ...counts }: TopicCounts, now: number): TopicStatus {
  const [minuteAgo = { ...counts, at: now }] = minute
  const [hourAgo = minuteAgo] = hour
  const seconds = Math.max(WINDOW_MIN_MS, now - minuteAgo.at) / 1000
  const perSecond = (of: 'pulled' | 'ok' | 'failed') => round((counts[of] - minuteAgo[of]) / seconds)
  const runRt = (since: Sample) => mean(counts.runMs - since.runMs, counts.runs - since.runs)
  return {
    topic,
    pullRt: mean(counts.pullMs - minuteAgo.pullMs, counts.pulls - minuteAgo.pulls),
    pullTps: perSecond('pulled'),
    // Of a topic that rests, what it was when it last ran tells more than 0, as RocketMQ thinks too.
    consumeRt: counts.runs > minuteAgo.runs ? runRt(minuteAgo) : runRt(hourAgo),
    consumeOkTps: perSecond('ok'),
    consumeFailedTps: perSecond('failed'),
    consumeFailedMsgs: counts.failed - hourAgo.failed,
  }
}

function mean(sum: number, count: number): number {
  return count === 0 ? 0 : round(sum / count)
}

/** RocketMQ's two decimals. */
function round(value: number): number {
  return Math.round(value * 100) / 100
}
