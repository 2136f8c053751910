import type { SendGroup } from '../broker.ts'
import type { Message } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'
import { chooseQueue, type QueueChoice } from './choose-queue.ts'
import type { PublishRoute, PublishRoutes } from './publish-routes.ts'

/** Messages in the groups in which they are sent, and where among them each one is. */
export interface PlacedMessages {
  readonly groups: readonly SendGroup[]
  /** Of message i: its group, and its place there. Flat arrays, since a bulk send has thousands. */
  readonly groupIndex: Uint32Array
  readonly placeInGroup: Uint32Array
}

interface Group {
  readonly mq: MessageQueue
  readonly messages: Message[]
  queues?: number
}

/**
 * Chooses a queue for each message. What goes to one queue is one group, in the order of the messages; those that
 * come later are groups of their own.
 */
export async function placeMessages(
  messages: readonly Message[],
  choice: QueueChoice,
  routes: PublishRoutes,
  runtime: Runtime,
): Promise<PlacedMessages> {
  const groups: Group[] = []
  const prompt = new Map<MessageQueue, number>()
  const delayed = new Map<MessageQueue, number>()
  const groupIndex = new Uint32Array(messages.length)
  const placeInGroup = new Uint32Array(messages.length)
  let route: PublishRoute | undefined
  for (const [i, message] of messages.entries()) {
    if (route?.topic !== message.topic) route = await routes.get(message)
    const { mq, byNumber } = chooseQueue(route, message, choice, runtime)
    const groupOf = isDelayed(message) ? delayed : prompt
    let index = groupOf.get(mq)
    if (index === undefined) {
      index = groups.push({ mq, messages: [] }) - 1
      groupOf.set(mq, index)
    }
    const group = groups[index] as Group
    if (byNumber) group.queues = route.queues.length
    groupIndex[i] = index
    placeInGroup[i] = group.messages.push(message) - 1
  }
  return { groups, groupIndex, placeInGroup }
}

function isDelayed({ delayLevel, delayMs, deliverAt }: Message): boolean {
  return delayLevel !== undefined || delayMs !== undefined || deliverAt !== undefined
}
