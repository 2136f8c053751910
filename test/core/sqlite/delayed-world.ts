import { onTestFinished } from 'vitest'
import type { MessageExt } from '../../../src/core/model/message.ts'
import { EmbeddedBroker } from '../../../src/core/sqlite/embedded-broker.ts'
import type { Host } from '../../../src/core/sqlite/host.ts'
import { ManualRuntime } from '../../helpers/manual-runtime.ts'
import { tempDb } from '../../helpers/temp.ts'
import { mq, settled } from './engine.ts'
import { Machine } from './machine.ts'

/** A runtime whose wall clock can be set apart from the clock that timers run by. */
class SettableClock extends ManualRuntime {
  #ahead = 0

  override now(): number {
    return super.now() + this.#ahead
  }

  setForward(ms: number): void {
    this.#ahead += ms
  }
}

/** Processes on one file whose time stands until the test moves it. */
export class DelayedWorld {
  readonly clock = new SettableClock()
  readonly path = tempDb()
  readonly #machine = new Machine()

  /** A process that does nothing by itself: it neither waits for messages nor listens. */
  start(more: Partial<Host> = {}): EmbeddedBroker {
    const host = { ...this.#machine.startProcess(), runtime: this.clock, ...more }
    const broker = EmbeddedBroker.open({ path: this.path, durability: 'normal', host, create: true })
    onTestFinished(() => broker.close())
    return broker
  }

  /** A process that lives, as a member of a group does: it hears of what happens at the broker. */
  startListener(more: Partial<Host> = {}): EmbeddedBroker {
    const broker = this.start(more)
    broker.onNotification(() => {})
    return broker
  }

  /** Time passes, and everything that it wakes is done. */
  async pass(ms: number): Promise<void> {
    await settled()
    await this.clock.pass(ms)
    await settled()
  }

  /** What lies in a queue, as this process sees it. */
  async stored(broker: EmbeddedBroker, queueId = 0, topic = 'orders'): Promise<readonly MessageExt[]> {
    const messages: MessageExt[] = []
    for (let offset = 0; ; ) {
      const found = await broker.pull({ mq: mq(topic, queueId), offset, maxMessages: 1000, waitMs: 0 })
      if (found.messages.length === 0) return messages
      messages.push(...found.messages)
      offset = found.nextOffset
    }
  }
}

export const text = ({ body }: Pick<MessageExt, 'body'>): string => Buffer.from(body).toString()
