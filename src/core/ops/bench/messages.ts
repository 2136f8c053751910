import { javaQueueOf } from '../../model/hash.ts'
import type { Message } from '../../model/message.ts'
import type { BenchSettings } from './settings.ts'

/** Random bytes that bodies are cut from; a power of two, so that no pattern of sizes lines up with it. */
const BODY_POOL_BYTES = 1 << 20

/** Messages and the queue that each one belongs to, so that the baseline need not hash. */
export interface BenchMessages {
  readonly messages: readonly Message[]
  readonly queueIds: readonly number[]
}

/** Makes messages from a seed: the same settings give the same bytes, keys and order on every machine. */
export class MessageSource {
  readonly #settings: BenchSettings
  readonly #random: () => number
  readonly #keys: readonly string[]
  readonly #queueOfKey: readonly number[]
  readonly #pool: Uint8Array

  constructor(settings: BenchSettings, random: () => number) {
    this.#settings = settings
    this.#random = random
    this.#keys = Array.from({ length: settings.keys }, (_, i) => `key-${i}`)
    this.#queueOfKey = this.#keys.map((key) => javaQueueOf(key, settings.queues))
    this.#pool = new Uint8Array(BODY_POOL_BYTES + settings.size)
    const words = new Uint32Array(this.#pool.buffer, 0, Math.floor(this.#pool.length / 4))
    for (let i = 0; i < words.length; i++) words[i] = random() * 2 ** 32
  }

  /** The next `count` messages. Bodies share one buffer: a million messages must not need a million copies. */
  take(count: number): BenchMessages {
    const messages: Message[] = []
    const queueIds: number[] = []
    for (let i = 0; i < count; i++) {
      const k = Math.floor(this.#random() * this.#keys.length)
      const at = Math.floor(this.#random() * BODY_POOL_BYTES)
      messages.push({
        topic: this.#settings.topic,
        key: this.#keys[k] ?? '',
        body: this.#pool.subarray(at, at + this.#settings.size),
      })
      queueIds.push(this.#queueOfKey[k] ?? 0)
    }
    return { messages, queueIds }
  }
}
