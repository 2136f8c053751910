import { describe, expect, it } from 'vitest'
import { allocateByConsistentHash, ringHash } from '../../../src/core/client/allocate-consistent-hash.ts'
import type { MessageQueue } from '../../../src/core/model/message-queue.ts'

const queuesOn = (brokerName: string, n: number): MessageQueue[] =>
  Array.from({ length: n }, (_, queueId) => ({ topic: 'T', brokerName, queueId }))
const [A, B, C] = ['192.168.0.1@1#a', '192.168.0.2@2#b', '192.168.0.3@3#c'] as const

function owners(
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
): readonly (string | undefined)[] {
  return queues.map((mq) =>
    clientIds.find((id) => allocateByConsistentHash(queues, clientIds, id).includes(mq)),
  )
}

describe('the ring', () => {
  it('takes the first four bytes of the MD5 as an unsigned number', () => {
    expect(ringHash('192.168.0.1@1#a-0')).toBe(2109409154)
    expect(ringHash('MessageQueue [topic=T, brokerName=broker-a, queueId=0]')).toBe(1630488180)
  })
})

describe('consistent hash', () => {
  // Computed by a JVM: a TreeMap of ten places a member, tailMap(hash of the queue's text), else the first.
  it('gives a queue to the first member behind it on the ring', () => {
    expect(owners(queuesOn('broker-a', 8), [A, B, C])).toEqual([A, A, A, B, C, C, A, C])
  })

  it('depends on the name of the broker, which is part of the text of a queue', () => {
    expect(owners(queuesOn('embedded', 8), [A, B, C])).toEqual([A, B, A, C, B, A, A, A])
  })

  it('moves only the queues of a member that leaves', () => {
    const queues = queuesOn('embedded', 200)
    const before = owners(queues, [A, B, C])
    const after = owners(queues, [A, C])
    for (const [i, owner] of before.entries()) if (owner !== B) expect(after[i]).toBe(owner)
    expect(before).toContain(B)
  })
})
