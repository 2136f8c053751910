import { createHash } from 'node:crypto'
import type { MessageQueue } from '../model/message-queue.ts'
import type { AllocateMessageQueueStrategy } from './allocate.ts'

/** Places of one member on the ring (RocketMQ's `virtualNodeCnt`). */
const VIRTUAL_NODES = 10

/**
 * RocketMQ's `AllocateMessageQueueConsistentHash`: a queue belongs to the first member at or behind its place on a
 * ring, so that a member that comes or goes moves few queues. Shares are uneven: with ten places a member some get
 * twice the average, and with more members than queues many get none.
 */
export const allocateByConsistentHash: AllocateMessageQueueStrategy = (queues, clientIds, clientId) => {
  if (!clientIds.includes(clientId)) return []
  const ring = ringOf(clientIds)
  return queues.filter((mq) => ownerOn(ring, ringHash(queueText(mq))) === clientId)
}

type Ring = readonly (readonly [hash: number, clientId: string])[]

/** Ascending. Where two places have the same hash the later one counts, as in Java's TreeMap. */
function ringOf(clientIds: readonly string[]): Ring {
  const places = new Map<number, string>()
  for (const clientId of clientIds) {
    for (let r = 0; r < VIRTUAL_NODES; r++) places.set(ringHash(`${clientId}-${r}`), clientId)
  }
  return [...places].sort(([a], [b]) => a - b)
}

function ownerOn(ring: Ring, hash: number): string | undefined {
  const [, owner] = ring.find(([place]) => place >= hash) ?? ring[0] ?? []
  return owner
}

/** The first four bytes of the MD5 of the text's UTF-8, big-endian and unsigned (`ConsistentHashRouter.MD5Hash`). */
export function ringHash(text: string): number {
  return createHash('md5').update(text, 'utf8').digest().readUInt32BE(0)
}

/** Java's `MessageQueue.toString()`, which names the broker: queues of a file are on `embedded`. */
function queueText({ topic, brokerName, queueId }: MessageQueue): string {
  return `MessageQueue [topic=${topic}, brokerName=${brokerName}, queueId=${queueId}]`
}
