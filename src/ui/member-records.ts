import { formatSize, type GroupMember, type QueueStatus, type TopicStatus } from '../core/index.ts'
import { isoTime } from './records.ts'

/** A member as `groups describe --json` prints it. `status` is what it told with its last heartbeat. */
export function memberRecord(member: GroupMember) {
  return {
    clientId: member.clientId,
    pid: member.process.pid,
    host: member.process.host,
    state: member.state,
    mode: member.mode,
    messageModel: member.messageModel,
    allocate: member.allocate,
    subscriptions: member.subscriptions,
    lockTtlMs: member.lockTtlMs,
    startedAt: isoTime(member.startedAt),
    heartbeatAt: isoTime(member.heartbeatAt),
    status: member.status
      ? { queues: member.status.queues.map(queueStatusRecord), topics: member.status.topics }
      : null,
  }
}

function queueStatusRecord({ mq, ...status }: QueueStatus) {
  return { topic: mq.topic, queueId: mq.queueId, ...status }
}

/** The rates of a member over all its topics; `null` when it told none. */
export function memberRates({ status }: GroupMember) {
  if (!status || status.topics.length === 0) return null
  const { topics } = status
  const consumed = (topic: TopicStatus) => topic.consumeOkTps + topic.consumeFailedTps
  const total = sum(topics.map(consumed))
  return {
    okTps: rounded(sum(topics.map((topic) => topic.consumeOkTps))),
    failedTps: rounded(sum(topics.map((topic) => topic.consumeFailedTps))),
    // By what each topic does; where nothing moves, the slowest.
    rtMs: rounded(
      total > 0
        ? sum(topics.map((topic) => topic.consumeRt * consumed(topic))) / total
        : Math.max(...topics.map((topic) => topic.consumeRt)),
    ),
  }
}

/** A queue of a member whose pulling pauses. */
export interface PausedQueue {
  readonly member: GroupMember
  readonly queue: QueueStatus
}

/** What flow control holds back, of members that live: what others said is over. */
export function pausedQueues(members: readonly GroupMember[]): readonly PausedQueue[] {
  return members
    .filter(({ state }) => state === 'alive')
    .flatMap((member) =>
      (member.status?.queues ?? [])
        .filter(({ flowControl }) => flowControl !== null)
        .map((queue) => ({ member, queue })),
    )
}

/** `paused: 1000 messages cached`. */
export function flowControlText({ cachedMessages, cachedBytes, flowControl }: QueueStatus): string | null {
  switch (flowControl) {
    case null:
      return null
    case 'messages':
      return `paused: ${cachedMessages} messages cached`
    case 'bytes':
      return `paused: ${formatSize(cachedBytes)} cached`
    case 'span':
      return `paused: ${cachedMessages} messages cached, too far apart`
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
