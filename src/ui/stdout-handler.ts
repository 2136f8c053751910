import { type Handler, type MessageExt, type MessageListener, RmqError } from '../core/index.ts'
import type { MessageFormatter } from './message-format.ts'
import { StdoutWriter } from './stdout-writer.ts'

/**
 * A handler that prints. A message has succeeded when all its bytes are in the pipe; when its reader went away, or
 * a stop no longer waits for it, it was not handled, and no attempt counts.
 */
export class StdoutHandler implements Handler {
  readonly kind = 'function'
  readonly consume: MessageListener = (messages, { signal }) => this.#print(messages, signal)
  readonly #format: MessageFormatter
  readonly #writer: StdoutWriter
  #stop: AbortSignal | undefined
  #printed = 0

  constructor(format: MessageFormatter, writer = new StdoutWriter()) {
    this.#format = format
    this.#writer = writer
  }

  /** The end of everything, and nobody's fault: leave quietly. */
  get isReaderGone(): boolean {
    return this.#writer.isReaderGone
  }

  async close(): Promise<void> {
    await this.#writer.close()
  }

  async #print(messages: readonly MessageExt[], signal: AbortSignal): Promise<'success'> {
    this.#watch(signal)
    try {
      const written = messages.map((message) => this.#writer.write(this.#format(message, ++this.#printed)))
      await (written.length === 1 ? written[0] : Promise.all(written))
      return 'success'
    } catch (error) {
      // Cut short by a stop: as if it had never been started.
      if (signal.aborted) throw error
      throw new RmqError('HANDLER_FAILED', 'stdout takes no more messages', {
        why: error instanceof Error ? error.message : String(error),
        cause: error,
      })
    }
  }

  /** A stop whose time ran out gives up on a reader that does not read. It is one signal for all messages. */
  #watch(signal: AbortSignal): void {
    if (this.#stop === signal) return
    this.#stop = signal
    const giveUp = () => this.#writer.abandon(new Error('the stop did not wait any longer'))
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp, { once: true })
  }
}
