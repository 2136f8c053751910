import { Producer } from '../../src/core/client/producer.ts'
import { sleep } from '../../src/core/model/runtime.ts'
import { BrokenInvariant } from './broken-invariant.ts'
import type { SimMessage } from './checker/model.ts'
import { describe } from './members.ts'
import { TAGS } from './plan.ts'
import type { SimProcess } from './process.ts'
import type { Simulation } from './simulation.ts'

/** Processes that send, one message or batch after the other, until all messages of the plan are on their way. */
export class Producers {
  readonly #sim: Simulation
  #left: number
  #nextId = 1
  #started = 0
  #living: SimProcess[] = []

  constructor(sim: Simulation) {
    this.#sim = sim
    this.#left = sim.plan.messages
  }

  get living(): readonly SimProcess[] {
    return this.#living
  }

  get areDone(): boolean {
    return this.#left === 0 && this.#living.length === 0
  }

  start(): void {
    const { world, plan } = this.#sim
    const process = world.spawn(`p${++this.#started}`)
    this.#living.push(process)
    process.onExit(() => {
      this.#living = this.#living.filter((one) => one !== process)
      if (this.#left === 0) return
      world.schedule(undefined, world.chance.between(0, plan.restartMs), 'supervisor', () => this.start())
    })
    world.schedule(process, 0, 'start', () => void this.#run(process))
  }

  async #run(process: SimProcess): Promise<void> {
    const { checker, plan, world } = this.#sim
    const { broker, stepped } = this.#sim.open(process)
    const producer = new Producer(stepped)
    try {
      for (let seq = 0; this.#left > 0; ) {
        await sleep(process.runtime, world.chance.between(0, plan.sendGapMs))
        const topic = world.chance.pick(plan.topics)?.name ?? ''
        const count = Math.min(this.#left, world.chance.int(1, plan.sendBatchMax))
        const messages = Array.from({ length: count }, () => this.#make(process.name, seq++))
        this.#left -= count
        for (const message of messages) checker.messages.sending(message)
        const sent = await producer.sendBatch(
          messages.map((message) => ({
            topic,
            body: JSON.stringify(message),
            tags: message.tag,
            ...(message.key !== undefined && { key: message.key }),
          })),
        )
        checker.observe(process)
        for (const [i, message] of messages.entries()) {
          const { queueId, queueOffset } = sent.result(i)
          if (queueOffset === null) throw new BrokenInvariant(5, 'a message without delay has no offset')
          checker.messages.acknowledged(message, topic, queueId, queueOffset)
        }
      }
      await broker.close()
      process.exit()
    } catch (error) {
      world.failure ??=
        error instanceof BrokenInvariant
          ? error
          : new BrokenInvariant(0, `${process.name} ended with ${describe(error)}`)
    }
  }

  #make(producer: string, seq: number): SimMessage {
    const { chance } = this.#sim.world
    const { keys, kinds } = this.#sim.plan
    return {
      id: this.#nextId++,
      kind: chance.weighted(kinds) ?? 'good',
      tag: chance.pick(TAGS) ?? 'a',
      key: chance.hit(0.9) ? `k${chance.int(1, keys)}` : undefined,
      producer,
      seq,
    }
  }
}
