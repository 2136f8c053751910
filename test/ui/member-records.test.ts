import { describe, expect, it } from 'vitest'
import type { GroupMember, QueueStatus, TopicStatus } from '../../src/core/index.ts'
import { maxReconsumeText } from '../../src/ui/group-columns.ts'
import { flowControlText, memberRates, pausedQueues } from '../../src/ui/member-records.ts'

const topic = (name: string, status: Partial<TopicStatus>): TopicStatus => ({
  topic: name,
  pullRt: 0,
  pullTps: 0,
  consumeRt: 0,
  consumeOkTps: 0,
  consumeFailedTps: 0,
  consumeFailedMsgs: 0,
  ...status,
})

const queue = (flowControl: QueueStatus['flowControl']): QueueStatus => ({
  mq: { topic: 'orders', brokerName: 'embedded', queueId: 3 },
  cachedMessages: 1000,
  cachedBytes: 100 * 1024 * 1024,
  consuming: 20,
  flowControl,
})

function member(
  topics: readonly TopicStatus[] | undefined,
  more: Partial<GroupMember> & { readonly queues?: readonly QueueStatus[] } = {},
): GroupMember {
  const { queues = [], ...rest } = more
  return {
    group: 'mailer',
    clientId: 'c1',
    mode: 'concurrent',
    messageModel: 'clustering',
    allocate: 'averagely',
    subscriptions: [],
    lockTtlMs: 60_000,
    process: { pid: 1, host: 'box', bootId: 'b', pidNamespace: 'n', startTime: 's' },
    state: 'alive',
    startedAt: 0,
    heartbeatAt: 0,
    ...(topics && { status: { topics, queues } }),
    ...rest,
  }
}

describe('the rates of a member', () => {
  it('add up over its topics; the response time is the mean over runs', () => {
    const busy = topic('orders', { consumeOkTps: 80, consumeFailedTps: 10, consumeRt: 10 })
    const quiet = topic('bills', { consumeOkTps: 10, consumeRt: 110 })
    expect(memberRates(member([busy, quiet]))).toEqual({ okTps: 90, failedTps: 10, rtMs: 20 })
  })

  it('are those of the slowest topic where nothing moves', () => {
    const resting = [topic('orders', { consumeRt: 5 }), topic('bills', { consumeRt: 7 })]
    expect(memberRates(member(resting))).toEqual({ okTps: 0, failedTps: 0, rtMs: 7 })
  })

  it('are unknown of a member that tells none', () => {
    expect(memberRates(member(undefined))).toBeNull()
    expect(memberRates(member([]))).toBeNull()
  })
})

describe('flow control', () => {
  it.each([
    [null, null],
    ['messages', 'paused: 1000 messages cached'],
    ['bytes', 'paused: 100MiB cached'],
    ['span', 'paused: 1000 messages cached, too far apart'],
  ] as const)('%s reads %j', (flowControl, text) => {
    expect(flowControlText(queue(flowControl))).toBe(text)
  })

  it('is told of living members only, and only where it holds', () => {
    const queues = [queue('messages'), queue(null)]
    const paused = pausedQueues([
      member([], { queues }),
      member([], { queues, clientId: 'c2', state: 'dead' }),
      member(undefined),
    ])
    expect(paused).toMatchObject([{ member: { clientId: 'c1' }, queue: { flowControl: 'messages' } }])
  })
})

describe('the limit of tries', () => {
  it.each([
    [3, 'orderly', '3'],
    [0, undefined, '0'],
    [-1, 'orderly', 'unlimited'],
    [-1, 'concurrent', '16'],
    [-1, undefined, 'default'],
  ] as const)('%s of a group that is %s reads %s', (max, mode, text) => {
    expect(maxReconsumeText(max, mode)).toBe(text)
  })
})
