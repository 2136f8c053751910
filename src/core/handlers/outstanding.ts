import type { ConsumeResult } from '../client/listener.ts'
import type { MessageExt } from '../model/message.ts'
import type { Delivery } from './record-writer.ts'
import { type Answer, withResolvers } from './runner.ts'

/** The messages of one run, and what became of each. */
class Batch {
  readonly answers: Answer[]
  readonly done = withResolvers<readonly Answer[]>()
  #open: number

  constructor(size: number) {
    this.answers = new Array<Answer>(size).fill(undefined)
    this.#open = size
  }

  settle(index: number, answer: Answer): void {
    this.answers[index] = answer
    if (--this.#open === 0) this.done.resolve(this.answers)
  }
}

interface Outstanding extends Delivery {
  readonly batch: Batch
  readonly index: number
  /** Messages of the same id that wait for it. */
  followers: Outstanding[] | undefined
}

/**
 * What a child was given and has not answered, by message id. An id is outstanding once only, as answers name nothing
 * else: a second message of the same id is given when the first was answered.
 */
export class OutstandingMessages {
  readonly #byId = new Map<string, Outstanding>()
  readonly #give: (delivery: Delivery) => void

  constructor(give: (delivery: Delivery) => void) {
    this.#give = give
  }

  add(messages: readonly MessageExt[]): Promise<readonly Answer[]> {
    const batch = new Batch(messages.length)
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index]
      if (message !== undefined) this.#put({ message, order: 0, batch, index, followers: undefined })
    }
    return batch.done.promise
  }

  /** False when no message of that id may have been seen by the child. */
  answer(msgId: string, result: ConsumeResult): boolean {
    const outstanding = this.#byId.get(msgId)
    if (outstanding === undefined || outstanding.order === 0) return false
    this.#byId.delete(msgId)
    outstanding.batch.settle(outstanding.index, result)
    const [next, ...others] = outstanding.followers ?? []
    if (next !== undefined) {
      next.followers = others
      this.#put(next)
    }
    return true
  }

  /** The place among all records of this child. */
  orderOf(msgId: string): number | undefined {
    const order = this.#byId.get(msgId)?.order
    return order === 0 ? undefined : order
  }

  /** How many of the outstanding ones the child may have seen, when those from `firstUnread` on were not. */
  seen(firstUnread: number): number {
    let seen = 0
    for (const outstanding of this.#byId.values()) if (isSeen(outstanding, firstUnread)) seen++
    return seen
  }

  /** Those that the child may have seen failed; the others were not taken. */
  fail(failure: ConsumeResult, firstUnread: number): void {
    for (const outstanding of this.#byId.values()) {
      const { batch, index, followers } = outstanding
      for (const follower of followers ?? []) follower.batch.settle(follower.index, undefined)
      batch.settle(index, isSeen(outstanding, firstUnread) ? failure : undefined)
    }
    this.#byId.clear()
  }

  /** None can ever be answered. */
  reject(error: Error): void {
    for (const { batch, followers } of this.#byId.values()) {
      for (const follower of followers ?? []) follower.batch.done.reject(error)
      batch.done.reject(error)
    }
    this.#byId.clear()
  }

  #put(outstanding: Outstanding): void {
    const { msgId } = outstanding.message
    const earlier = this.#byId.get(msgId)
    if (earlier !== undefined) {
      earlier.followers ??= []
      earlier.followers.push(outstanding)
      return
    }
    this.#byId.set(msgId, outstanding)
    this.#give(outstanding)
  }
}

function isSeen({ order }: Outstanding, firstUnread: number): boolean {
  return order !== 0 && order < firstUnread
}
