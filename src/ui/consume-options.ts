import { custom } from '@oclif/core/flags'
import {
  type AllocateStrategyName,
  type ConcurrentConsumerOptions,
  checkSubscription,
  type OffsetSpec,
  type OnExhausted,
  type OrderlyConsumerOptions,
  parseOffsetSpec,
  RmqError,
} from '../core/index.ts'

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
  readonly orderly: boolean
  readonly tag?: string | undefined
  readonly sql?: string | undefined
  readonly broadcast: boolean
  readonly from?: From | undefined
  readonly exec?: string | undefined
  readonly pipe?: string | undefined
  readonly handler?: string | undefined
  readonly format?: string | undefined
  readonly raw?: boolean | undefined
  readonly raw0?: boolean | undefined
  readonly batch?: number | undefined
  readonly threads?: number | undefined
  readonly 'per-key'?: number | undefined
  readonly 'manual-commit': boolean
  readonly 'max-reconsume'?: number | undefined
  readonly 'on-exhausted'?: OnExhausted | undefined
  readonly suspend?: number | undefined
  readonly 'suspend-max'?: number | undefined
  readonly 'consume-timeout'?: number | undefined
  readonly trace: boolean
  readonly allocate?: AllocateStrategyName | undefined
  readonly 'lock-ttl'?: number | undefined
  readonly 'client-id'?: string | undefined
  readonly count?: number | undefined
  readonly 'exit-at-end': boolean
  readonly 'idle-timeout'?: number | undefined
  readonly 'drain-timeout'?: number | undefined
}

const HANDLERS = ['exec', 'pipe', 'handler', 'format', 'raw', 'raw0'] as const
/** What only makes sense where messages are handled in no order. */
const CONCURRENT_ONLY = ['threads', 'consume-timeout'] as const

/** Refuses flags that contradict each other, and filters that nobody understands. INVALID_ARGUMENT. */
export function checkConsumeFlags(flags: ConsumeFlags): void {
  const handlers = HANDLERS.filter((name) => flags[name])
  if (handlers.length > 1) {
    throw new RmqError(
      'INVALID_ARGUMENT',
      `${handlers.map((name) => `--${name}`).join(' and ')} exclude each other`,
      { why: 'a message has one handler: stdout, --exec, --pipe or --handler', hint: 'keep one of them' },
    )
  }
  const stray = flags.orderly ? CONCURRENT_ONLY.find((name) => flags[name] !== undefined) : undefined
  if (stray) {
    throw new RmqError('INVALID_ARGUMENT', `--${stray} and --orderly exclude each other`, {
      why:
        stray === 'threads'
          ? 'with --orderly a queue has one handler at a time, or --per-key N of them'
          : 'with --orderly a message is never sent back, however long it takes',
      hint: stray === 'threads' ? 'use --per-key N, or leave out --orderly' : 'leave out one of them',
    })
  }
  if (flags['manual-commit'] && !flags.pipe && !flags.handler) {
    throw new RmqError('INVALID_ARGUMENT', '--manual-commit needs a handler that can say commit', {
      why: 'stdout and --exec know success and failure only',
      hint: 'use --pipe or --handler',
    })
  }
  if (flags['manual-commit'] && (flags['per-key'] ?? 1) > 1) {
    throw new RmqError('INVALID_ARGUMENT', '--manual-commit and --per-key exclude each other', {
      why: 'a commit would cover messages of keys that are still being handled',
      hint: 'leave out one of them',
    })
  }
  const clientId = flags['client-id']
  if (clientId !== undefined && !/^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(clientId)) {
    throw new RmqError('INVALID_ARGUMENT', `--client-id ${JSON.stringify(clientId)} is not allowed`, {
      why: 'a client id is not empty and holds no blanks and no control characters',
      hint: 'leave it out: it is unique by construction then',
    })
  }
  if (flags.tag !== undefined) checkFilter('TAG', flags.tag)
  if (flags.sql !== undefined) checkFilter('SQL92', flags.sql)
}

function checkFilter(expressionType: 'TAG' | 'SQL92', expression: string): void {
  checkSubscription({ topic: '', expressionType, expression })
}

/** What the flags say, in the consumer's words. What is not said is left to the consumer. */
export function orderlyOptions(flags: ConsumeFlags): Omit<OrderlyConsumerOptions, 'group' | 'topics'> {
  return withoutUndefined({
    ...commonOptions(flags),
    onExhausted: flags['on-exhausted'],
    perKey: flags['per-key'],
    autoCommit: !flags['manual-commit'],
  })
}

export function concurrentOptions(flags: ConsumeFlags): Omit<ConcurrentConsumerOptions, 'group' | 'topics'> {
  return withoutUndefined({
    ...commonOptions(flags),
    threads: flags.threads,
    consumeTimeoutMs: flags['consume-timeout'],
  })
}

function commonOptions(flags: ConsumeFlags) {
  return {
    tags: flags.tag,
    sql: flags.sql,
    messageModel: flags.broadcast ? ('broadcasting' as const) : undefined,
    from: flags.from,
    batch: flags.batch,
    maxReconsumeTimes: flags['max-reconsume'],
    suspendMs: flags.suspend,
    suspendMaxMs: flags['suspend-max'],
    trace: flags.trace ? true : undefined,
    allocate: flags.allocate,
    lockTtlMs: flags['lock-ttl'],
    clientId: flags['client-id'],
    count: flags.count,
    exitAtEnd: flags['exit-at-end'],
    idleTimeoutMs: flags['idle-timeout'],
    drainTimeoutMs: flags['drain-timeout'],
  }
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function withoutUndefined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>
}
