import { RmqError } from '../model/errors.ts'
import type { Message } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'
import type { PublishRoute } from './publish-routes.ts'
import { type MessageQueueSelector, type SelectorName, selectByMod, selectByRandom } from './selectors.ts'

/** What a send says of its queue. */
export interface QueueChoice {
  /** Default: `hash` for a message with a key, else `round-robin`. */
  readonly selector?: SelectorName | MessageQueueSelector
  /** Handed to the selector. */
  readonly arg?: unknown
  /** Chooses the queue itself: its place among the topic's queues. */
  readonly queueId?: number
}

export interface ChosenQueue {
  readonly mq: MessageQueue
  /** By a rule that depends on how many queues there are: with another number it would be another queue. */
  readonly byNumber: boolean
}

/** Whether any queue is as good: nothing was said of it, and there is no key to keep in order. */
export function takesAnyQueue(message: Message, { selector, queueId }: QueueChoice): boolean {
  return selector === undefined && queueId === undefined && message.key === undefined
}

/** The queue of a message. QUEUE_NOT_FOUND, SELECTOR_FAILED. */
export function chooseQueue(
  route: PublishRoute,
  message: Message,
  choice: QueueChoice,
  runtime: Runtime,
): ChosenQueue {
  const { queueId, selector = message.key === undefined ? 'round-robin' : 'hash', arg } = choice
  if (queueId !== undefined) return { mq: numberedQueue(route, queueId), byNumber: false }
  switch (selector) {
    case 'round-robin':
      return { mq: select(route, route.roundRobin, message, arg), byNumber: false }
    case 'random':
      return { mq: select(route, selectByRandom(runtime), message, arg), byNumber: false }
    case 'hash':
      return { mq: select(route, route.byHash, message, arg), byNumber: true }
    case 'mod':
      return { mq: select(route, selectByMod, message, arg), byNumber: true }
    default:
      return { mq: select(route, selector, message, arg), byNumber: true }
  }
}

function numberedQueue({ topic, queues }: PublishRoute, queueId: number): MessageQueue {
  const mq = queues[queueId]
  if (mq) return mq
  throw new RmqError('QUEUE_NOT_FOUND', `topic ${topic} has no queue ${queueId}`, {
    why: `its queues are 0 to ${queues.length - 1}`,
    hint: `rmq topics describe ${topic}`,
    details: { topic, queueId, queues: queues.length },
  })
}

function select(
  { topic, queues }: PublishRoute,
  selector: MessageQueueSelector,
  message: Message,
  arg: unknown,
): MessageQueue {
  if (typeof selector !== 'function') throw noSelector(selector)
  let mq: MessageQueue | undefined
  try {
    mq = selector(queues, message, arg)
  } catch (error) {
    throw selectorThrew(topic, error)
  }
  if (mq !== undefined && queues.includes(mq)) return mq
  throw new RmqError('SELECTOR_FAILED', `the selector chose no queue of ${topic}`, {
    why: `it returned ${mq ? JSON.stringify(mq) : 'nothing'}; the topic has ${queues.length} queues`,
    hint: 'a selector returns one of the queues that it is given',
  })
}

/** For programs without types. RocketMQ calls whatever it is given. */
function noSelector(selector: unknown): RmqError {
  return new RmqError('SELECTOR_FAILED', 'the selector is missing', {
    why: `a function, or hash, random, round-robin or mod, is expected; ${String(selector)} is none of them`,
    hint: 'leave the selector out: messages of a key are then kept together',
  })
}

function selectorThrew(topic: string, error: unknown): RmqError {
  if (error instanceof RmqError && error.code === 'SELECTOR_FAILED') return error
  const reason = error instanceof Error ? error.message : String(error)
  return new RmqError('SELECTOR_FAILED', `the selector of a message for ${topic} failed: ${reason}`, {
    why: 'it threw; nothing was sent',
    hint: 'correct the selector',
    cause: error,
  })
}
