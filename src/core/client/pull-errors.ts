import { RmqError } from '../model/errors.ts'
import type { LockHolder } from '../model/lock.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { QueueStats } from '../model/topic.ts'
import type { HeldQueue } from './pull-options.ts'

export function locksHeld(group: string, held: readonly HeldQueue[]): RmqError {
  const [first] = held
  const topic = first?.mq.topic
  return new RmqError(
    'LOCK_HELD',
    `${placesOf(held.map(({ mq }) => mq))}: another consumer of ${group} has the lock`,
    {
      why: holdersOf(held),
      hint: `rmq locks list -g ${group} --topic ${topic}; stop that consumer, or use another group`,
      details: {
        group,
        held: held.map(({ mq, holder }) => ({
          topic: mq.topic,
          queueId: mq.queueId,
          clientId: holder?.clientId ?? null,
        })),
      },
    },
  )
}

export function commitRefused(group: string, mqs: readonly MessageQueue[]): RmqError {
  return new RmqError('LOCK_LOST', `${placesOf(mqs)}: the lock went to another consumer of ${group}`, {
    why: 'it was not renewed in time, or was taken away; what was not committed comes again there',
    hint: `rmq locks list -g ${group}`,
    details: { group, queues: mqs.map(({ topic, queueId }) => ({ topic, queueId })) },
  })
}

export function assignmentLost(group: string): RmqError {
  return new RmqError('LOCK_LOST', `every assigned queue went to other consumers of ${group}`, {
    why: 'their locks were not renewed in time, or were taken away',
    hint: 'assign queues again',
  })
}

export function noAssignment(): RmqError {
  return new RmqError('INVALID_ARGUMENT', 'there is no queue to poll', {
    why: 'no queue is assigned to this consumer',
    hint: 'await consumer.assign(await consumer.messageQueues(topic))',
  })
}

export function consumerClosed(): RmqError {
  return new RmqError('INVALID_ARGUMENT', 'this pull consumer is closed', {
    why: 'its queues are given back',
    hint: 'make another one',
  })
}

export function notAssigned({ topic, queueId }: MessageQueue): RmqError {
  return new RmqError('INVALID_ARGUMENT', `queue ${queueId} of ${topic} is not assigned to this consumer`, {
    why: 'positions and commits are those of assigned queues, which are locked',
    hint: 'assign it first',
  })
}

export function offsetOutside(
  what: string,
  offset: number,
  { mq, minOffset, maxOffset }: QueueStats,
): RmqError {
  return new RmqError(
    'INVALID_ARGUMENT',
    `cannot ${what} offset ${offset} of ${mq.topic} queue ${mq.queueId}`,
    {
      why: `its offsets are ${minOffset} to ${maxOffset}`,
      hint: 'take an offset of that range; the last one is the end',
      details: { topic: mq.topic, queueId: mq.queueId, offset, minOffset, maxOffset },
    },
  )
}

export function queueNotFound({ topic, queueId }: MessageQueue, known: readonly MessageQueue[]): RmqError {
  return new RmqError('QUEUE_NOT_FOUND', `topic ${topic} has no queue ${queueId}`, {
    why: known.length === 0 ? 'none of its queues can be read' : `its queues are ${idsOf(known)}`,
    hint: `rmq topics describe ${topic}`,
    details: { topic, queueId },
  })
}

/** INVALID_ARGUMENT unless it is a whole number from 1 on. */
export function atLeastOne(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return
  throw new RmqError('INVALID_ARGUMENT', `${what}: ${value} is not allowed`, {
    why: 'it is a whole number from 1 on',
    hint: `leave ${what} out for the default`,
  })
}

function holdersOf(held: readonly HeldQueue[]): string {
  const names = new Set(held.map(({ holder }) => nameOf(holder)))
  return [...names]
    .map((name) => {
      const theirs = held.filter(({ holder }) => nameOf(holder) === name)
      const ids = theirs.map(({ mq }) => mq.queueId).join(', ')
      const longest = Math.max(...theirs.map(({ holder }) => holder?.expiresInMs ?? 0))
      const lease =
        longest > 0 ? `; its lease ends in ${Math.ceil(longest / 1000)} s unless it is renewed` : ''
      return `${theirs.length === 1 ? 'queue' : 'queues'} ${ids} of ${name}${lease}`
    })
    .join('. ')
}

function nameOf(holder: LockHolder | null): string {
  return holder ? `${holder.clientId} (${holder.pid}@${holder.host})` : 'another consumer'
}

function placesOf(mqs: readonly MessageQueue[]): string {
  const topics = [...new Set(mqs.map(({ topic }) => topic))]
  return topics
    .map((topic) => {
      const ids = mqs.filter((mq) => mq.topic === topic).map(({ queueId }) => queueId)
      return `${topic} ${ids.length === 1 ? 'queue' : 'queues'} ${ids.join(', ')}`
    })
    .join('; ')
}

function idsOf(queues: readonly MessageQueue[]): string {
  return `${queues[0]?.queueId ?? 0} to ${queues.at(-1)?.queueId ?? 0}`
}
