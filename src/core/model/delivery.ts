import type { MessageQueue } from './message-queue.ts'

/** What can happen to a message in a group. `started` is the only one before its end. */
export const DELIVERY_EVENTS = [
  'started',
  'succeeded',
  'failed',
  'sent-back',
  'dead-lettered',
  'parked',
  'released',
] as const
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number]

/** One line of the journal of a group (`--trace`). */
export interface Delivery {
  readonly event: DeliveryEvent
  readonly msgId: string
  readonly queueOffset: number
  /** 0: the live message; n: its n-th replay. */
  readonly replay: number
  /** 1 for the first. */
  readonly attempt: number
  readonly error: string | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What a consumer keeps in order: all messages of a queue, those of each key, or nothing. */
export type DeliveryOrdering = 'queue' | 'key' | 'none'

/** A delivery as the journal gives it back. */
export interface JournalEntry extends Delivery {
  readonly group: string
  /** Where the message was delivered from; of one that was sent back its retry topic. */
  readonly mq: MessageQueue
  readonly clientId: string
  /** Of the lock under which it was delivered; 0 where there was none. */
  readonly epoch: number
}
