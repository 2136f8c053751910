import { custom } from '@oclif/core/flags'
import { type OffsetSpec, type OrderlyConsumerOptions, parseOffsetSpec, RmqError } from '../core/index.ts'

type From = NonNullable<OrderlyConsumerOptions['from']>

/** `earliest`, `latest`, `@TIME`. */
export const fromFlag = custom<From>({
  parse: async (text) => parseFrom(text, Date.now()),
  helpValue: 'WHERE',
})

/** Reads where a group starts; `now` is the wall clock. INVALID_ARGUMENT. */
export function parseFrom(text: string, now: number): From {
  const spec: OffsetSpec = parseOffsetSpec(text, now)
  switch (spec.kind) {
    case 'earliest':
    case 'latest':
      return spec.kind
    case 'time':
      return { timestamp: spec.timestamp }
    default:
      throw new RmqError('INVALID_ARGUMENT', `a group cannot start at ${JSON.stringify(text)}`, {
        why: 'it starts in every queue at once: earliest, latest or @TIME',
        hint: 'for example --from @-15m',
      })
  }
}

/** `a,b`: topics, each once. INVALID_ARGUMENT for an empty name, such as of a stray comma. */
export function parseTopics(text: string): readonly string[] {
  const topics = text.split(',')
  if (topics.every((topic) => topic !== '')) return [...new Set(topics)]
  throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} names an empty topic`, {
    hint: 'separate topics by single commas: orders,payments',
  })
}

export interface ConsumeFlags {
  readonly tag?: string | undefined
  readonly from?: From | undefined
  readonly batch?: number | undefined
  readonly 'max-reconsume'?: number | undefined
  readonly 'on-exhausted'?: 'dlq' | 'block' | undefined
  readonly suspend?: number | undefined
  readonly 'suspend-max'?: number | undefined
  readonly 'lock-ttl'?: number | undefined
  readonly 'client-id'?: string | undefined
  readonly count?: number | undefined
  readonly 'exit-at-end': boolean
  readonly 'idle-timeout'?: number | undefined
  readonly 'drain-timeout'?: number | undefined
}

/** What the flags say, in the consumer's words. What is not said is left to the consumer. */
export function consumerOptions(
  flags: ConsumeFlags,
): Omit<OrderlyConsumerOptions, 'group' | 'topics' | 'onEvent'> {
  return withoutUndefined({
    tags: flags.tag,
    from: flags.from,
    batch: flags.batch,
    maxReconsumeTimes: flags['max-reconsume'],
    onExhausted: flags['on-exhausted'],
    suspendMs: flags.suspend,
    suspendMaxMs: flags['suspend-max'],
    lockTtlMs: flags['lock-ttl'],
    clientId: flags['client-id'],
    count: flags.count,
    exitAtEnd: flags['exit-at-end'],
    idleTimeoutMs: flags['idle-timeout'],
    drainTimeoutMs: flags['drain-timeout'],
  })
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function withoutUndefined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>
}
