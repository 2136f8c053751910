import { describe, expect, it } from 'vitest'
import type { ConsumeContext, ConsumerEvent, Handler, LockHolder, MessageExt } from '../../src/core/index.ts'
import { ConsumerReport } from '../../src/ui/consumer-report.ts'

const MQ = { topic: 'orders', brokerName: 'embedded', queueId: 3 }
const MESSAGE: MessageExt = {
  ...MQ,
  msgId: 'A1',
  queueOffset: 7,
  key: 'k',
  keys: [],
  tags: null,
  properties: {},
  body: Buffer.from(''),
  bornTimestamp: 0,
  storeTimestamp: 0,
  reconsumeTimes: 0,
}

function reporter(spread = true, holds: 'queue' | 'key' = 'queue') {
  const lines: string[] = []
  let now = 1000
  const report = new ConsumerReport({
    group: 'mailer',
    say: (text) => void lines.push(`say ${text}`),
    caution: (text) => void lines.push(`caution ${text}`),
    note: (text) => void lines.push(`note ${text}`),
    now: () => now,
    spread,
    holds,
  })
  const told = () => lines.splice(0)
  return { report, told, wait: (ms: number) => (now += ms) }
}

const retry = (change: Partial<ConsumerEvent & { kind: 'retry' }> = {}): ConsumerEvent => ({
  kind: 'retry',
  message: MESSAGE,
  attempts: 2,
  maxReconsumeTimes: 3,
  error: 'a stack\nboom\n',
  afterMs: 2000,
  ...change,
})

describe('ConsumerReport', () => {
  it.each([
    ['order-17', 'g mailer --key order-17'],
    ["o'clock; rm *", 'g mailer'],
    ['-q', 'g mailer'],
  ])('tells of a key that is parked once, and how it is opened: %s', (key, flags) => {
    const { report, told } = reporter()
    const message = { ...MESSAGE, key }
    for (const msgId of ['A1', 'B2']) report.event({ kind: 'parked', message: { ...message, msgId } })
    expect(told()).toEqual([
      `say parked message A1 (orders queue 3 offset 7, key "${key}") behind the dead letter of its key (rmq dlq replay -${flags})`,
    ])
  })

  it('tells of a failing message once, and again after half a minute', () => {
    const { report, told, wait } = reporter()
    report.event(retry())
    expect(told()).toEqual([
      'say attempt 2 of 4 of message A1 (orders queue 3 offset 7, key "k") failed: boom; next try in 2.0 s',
    ])
    for (let i = 0; i < 1000; i++) report.event(retry({ attempts: 3 }))
    expect(told()).toEqual([])
    report.event(retry({ message: { ...MESSAGE, msgId: 'B2' } }))
    expect(told()).toHaveLength(1)
    wait(30_000)
    report.event(retry({ attempts: 4 }))
    expect(told().join()).toContain('attempt 4 of 4')
  })

  it('warns once that retries have no end', () => {
    const { report, told } = reporter()
    report.event(retry({ maxReconsumeTimes: null }))
    const lines = told()
    expect(lines[0]).toMatch(/^caution .*for ever.*--max-reconsume/)
    expect(lines[1]).toContain('attempt 2 of unlimited')
    report.event(retry({ maxReconsumeTimes: null, message: { ...MESSAGE, msgId: 'B2' } }))
    expect(told().filter((line) => line.startsWith('caution'))).toEqual([])
  })

  it('says that only a key is held where keys run beside each other', () => {
    const { report, told } = reporter(true, 'key')
    report.event(retry({ maxReconsumeTimes: null }))
    report.event({ kind: 'blocked', message: MESSAGE, attempts: 1, error: null })
    expect(told().filter((line) => line.startsWith('caution'))).toEqual([
      expect.stringContaining('holds its key for ever'),
      expect.stringContaining('blocks its key until a person helps'),
    ])
  })

  it('tells of each dead letter, and of a queue that waits for a person', () => {
    const { report, told } = reporter()
    report.event({ kind: 'dead-lettered', message: MESSAGE, attempts: 4, error: 'exit 1' })
    report.event({ kind: 'blocked', message: MESSAGE, attempts: 1, error: null })
    const [dead, blocked] = told()
    expect(dead).toMatch(
      /^say dead-lettered message A1 .* after 4 attempts: exit 1 \(rmq dlq show -g mailer A1\)$/,
    )
    expect(blocked).toMatch(/^caution .*failed 1 attempt and blocks its queue/)
  })

  it('names who holds a lock, and says it again only when that changes', () => {
    const holder: LockHolder = { clientId: 'c9', pid: 42, host: 'h', state: 'alive', expiresInMs: 12_000 }
    const { report, told } = reporter()
    report.event({ kind: 'waiting-for-lock', mq: MQ, holder })
    report.event({ kind: 'waiting-for-lock', mq: MQ, holder: { ...holder, expiresInMs: 11_000 } })
    const lines = told()
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^say orders queue 3 waits for the lock of c9 \(42@h\), at most 12 s/)
    report.event({ kind: 'waiting-for-lock', mq: MQ, holder: { ...holder, state: 'handler-running' } })
    expect(told().join()).toMatch(/handler that c9 \(42@h\) left running/)
  })

  it('does not hide a lost lock', () => {
    const { report, told } = reporter()
    report.event({ kind: 'lock-lost', mq: MQ, refusedCommit: true })
    report.event({ kind: 'lock-lost', mq: MQ, refusedCommit: false })
    const [refused, lost] = told()
    expect(refused).toMatch(/^caution .*orders queue 3.*commit was refused/)
    expect(lost).toMatch(/^caution .*orders queue 3/)
    expect(lost).not.toContain('refused')
  })

  it('notes once that messages without a key are in no order across queues', async () => {
    const seen: string[] = []
    const handler: Handler = {
      kind: 'process',
      consume: (messages) => void seen.push(...messages.map((message) => message.msgId)),
      close: async () => {},
    }
    const context = {} as ConsumeContext
    const { report, told } = reporter()
    const watched = report.watch(handler)
    expect(watched.kind).toBe('process')
    await watched.consume([MESSAGE], context)
    expect(told()).toEqual([])
    await watched.consume([MESSAGE, { ...MESSAGE, msgId: 'B2', key: null }], context)
    await watched.consume([{ ...MESSAGE, msgId: 'C3', key: null }], context)
    expect(told()).toEqual([expect.stringMatching(/^note message B2 .*no key/)])
    expect(seen).toEqual(['A1', 'A1', 'B2', 'C3'])
    expect(reporter(false).report.watch(handler)).toBe(handler)
  })

  it('sums up', () => {
    const { report, wait } = reporter()
    wait(1234)
    const none = { deadLettered: 0, parked: 0, sentBack: 0, dropped: 0, failed: 0 }
    const summary = { ...none, consumed: 13341, drained: true }
    expect(report.summary(summary, undefined)).toBe('consumed 13,341 in 1.2 s')
    expect(report.summary({ ...summary, deadLettered: 1, failed: 4, drained: false }, 'SIGTERM')).toBe(
      'stopped by SIGTERM: consumed 13,341, dead-lettered 1, failed runs 4 in 1.2 s; ' +
        'a handler was cut short, its messages come again',
    )
  })
})
