import { RmqError } from '../model/errors.ts'
import { queueOf } from '../model/hash.ts'
import type { Message } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'
import type { HashRule } from '../model/topic.ts'

/**
 * A user's own choice of a queue (RocketMQ `MessageQueueSelector`): gets the topic's queues in RocketMQ's order,
 * the message and the argument of the send; returns one of the queues.
 */
export type MessageQueueSelector = (
  queues: readonly MessageQueue[],
  message: Message,
  arg: unknown,
) => MessageQueue | undefined

/** The selectors with a name. */
export const SELECTOR_NAMES = ['hash', 'random', 'round-robin', 'mod'] as const
export type SelectorName = (typeof SELECTOR_NAMES)[number]

/** `SelectMessageQueueByHash`: all messages of a key go to one queue, by the topic's hash rule. */
export function selectByHash(rule: HashRule): MessageQueueSelector {
  return (queues, message) => {
    if (message.key === undefined) {
      throw new RmqError('SELECTOR_FAILED', 'the hash selector needs a key', {
        why: `the message for ${message.topic} has none`,
        hint: 'give the message a key, or choose the selector round-robin or random',
      })
    }
    return queues[queueOf(rule, message.key, queues.length).queueId]
  }
}

/** `SelectMessageQueueByRandom`: any queue with the same chance. */
export function selectByRandom(runtime: Runtime): MessageQueueSelector {
  return (queues) => queues[Math.floor(runtime.random() * queues.length)]
}

/** One queue after the other, from a random start as RocketMQ's producer does. */
export function selectRoundRobin(runtime: Runtime): MessageQueueSelector {
  let next = Math.floor(runtime.random() * 2 ** 31)
  return (queues) => queues[next++ % queues.length]
}

/** An integer key modulo the number of queues, as RocketMQ's samples do; not negative. */
export const selectByMod: MessageQueueSelector = (queues, message, arg) => {
  const number = arg ?? message.key
  // BigInt, so that a key of 20 digits is not rounded to another queue.
  if (!/^-?\d+$/.test(String(number ?? ''))) {
    throw new RmqError('SELECTOR_FAILED', 'the mod selector needs an integer key', {
      why: `the key is ${number === undefined ? 'missing' : JSON.stringify(number)}`,
      hint: 'use an integer key, or the selector hash',
    })
  }
  const size = BigInt(queues.length)
  return queues[Number(((BigInt(String(number)) % size) + size) % size)]
}
