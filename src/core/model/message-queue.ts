/** One ordered lane of a topic. Identity is all three fields (RocketMQ `MessageQueue`). */
export interface MessageQueue {
  readonly topic: string
  /** The broker that stores it; `EMBEDDED_BROKER_NAME` on a file. */
  readonly brokerName: string
  readonly queueId: number
}

/** The broker name of queues that live in a file. */
export const EMBEDDED_BROKER_NAME = 'embedded'

/** A queue's identity as one string, for maps. No two queues share it: topic names hold neither `@` nor `:`. */
export function queueKey(mq: MessageQueue): string {
  return `${mq.topic}@${mq.brokerName}:${mq.queueId}`
}

/** RocketMQ's order of queues: topic, then broker name, then id; text by UTF-16 units as Java compares. */
export function compareQueues(a: MessageQueue, b: MessageQueue): number {
  return compareText(a.topic, b.topic) || compareText(a.brokerName, b.brokerName) || a.queueId - b.queueId
}

/** Java's `String.compareTo`, as a sign. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
