import type { Broker } from '../../src/core/broker.ts'
import type { MessageListener } from '../../src/core/client/listener.ts'
import { OrderlyConsumer } from '../../src/core/client/orderly-consumer.ts'
import { BrokenInvariant } from './broken-invariant.ts'
import { simHandler } from './handler.ts'
import type { GroupPlan } from './plan.ts'
import type { SimProcess } from './process.ts'
import type { Simulation } from './simulation.ts'

/** A process with one consumer. */
export interface Member {
  readonly process: SimProcess
  readonly group: GroupPlan
  readonly clientId: string
  /** SIGTERM. */
  readonly leave: () => void
  hasLeft: boolean
}

/** The consumers of all groups, and who starts them again when they are gone. */
export class Members {
  readonly #sim: Simulation
  readonly #all: Member[] = []

  constructor(sim: Simulation) {
    this.#sim = sim
  }

  get living(): readonly Member[] {
    return this.#all.filter(({ process }) => !process.isDead)
  }

  of(group: GroupPlan): readonly Member[] {
    return this.living.filter((member) => member.group === group)
  }

  start(group: GroupPlan, clientId?: string): void {
    const { world } = this.#sim
    const process = world.spawn(`c${this.#all.length + 1}`)
    const id = clientId ?? `${world.chance.int(10, 99)}${process.name}`
    const stop = new AbortController()
    const member: Member = {
      process,
      group,
      clientId: id,
      leave: () => {
        world.say(`${process.name} is told to end`)
        member.hasLeft = true
        world.schedule(process, 0, 'SIGTERM', () => stop.abort())
      },
      hasLeft: false,
    }
    this.#all.push(member)
    world.say(`${process.name} starts as ${id} of ${group.name}`)
    world.schedule(process, 0, 'start', () => void this.#run(member, stop.signal))
    process.onExit(() => this.#startAgain(member))
  }

  async #run({ process, group, clientId }: Member, signal: AbortSignal): Promise<void> {
    const { plan, world } = this.#sim
    const opened = this.#sim.open(process)
    const consumer = new OrderlyConsumer(opened.stepped, {
      group: group.name,
      clientId,
      topics: plan.topics.map(({ name }) => name),
      lockTtlMs: plan.lockTtlMs,
      batch: group.batch,
      threads: group.threads,
      maxReconsumeTimes: group.maxReconsumeTimes,
      suspendMs: plan.suspendMs,
      suspendMaxMs: 200,
      drainTimeoutMs: group.drainTimeoutMs,
      ...(group.tags && { tags: group.tags.join(' || ') }),
      onEvent: (event) => {
        if (event.kind === 'lock-lost' || event.kind === 'notice') {
          world.say(`${process.name} says ${event.kind} ${'text' in event ? event.text : event.mq.queueId}`)
        }
      },
    })
    const handler = simHandler(this.#sim, process, group)
    const consume = this.#sim.fault?.listen?.(handler.consume, commitFor(opened.broker, clientId))
    try {
      const consumed = consumer.start(consume ? { ...handler, consume } : handler, { signal })
      world.await(Promise.race([process.firstBoundary, consumed]))
      await consumed
      await process.boundary('close')
      await opened.broker.close()
      process.exit()
    } catch (error) {
      world.failure ??= new BrokenInvariant(0, `${process.name} ended with ${describe(error)}`)
    }
  }

  /** A supervisor starts a member anew when it is gone, unless it was told to go. */
  #startAgain({ group, clientId, hasLeft }: Member): void {
    const { plan, world } = this.#sim
    if (hasLeft && !(this.#sim.isCalm && !this.#sim.isOver && this.of(group).length === 0)) return
    world.schedule(undefined, world.chance.between(0, plan.restartMs), 'supervisor', () => {
      if (this.#sim.isOver || this.of(group).length >= plan.membersMax) return
      const isTaken = this.#all.some((one) => one.clientId === clientId && !one.process.isDead)
      this.start(group, !isTaken && world.chance.hit(plan.sameIdRate) ? clientId : undefined)
    })
  }
}

/** For a planted fault: commits what a handler is given, under the lock that its client has. */
function commitFor(broker: Broker, clientId: string) {
  return async ([messages, { group, mq }]: Parameters<MessageListener>): Promise<void> => {
    const locks = await broker.listLocks({ group, topic: mq.topic, queueId: mq.queueId })
    const epoch = locks.find((lock) => lock.clientId === clientId)?.epoch ?? 0
    const offset = (messages.at(-1)?.queueOffset ?? -1) + 1
    await broker.commitOffsets(group, clientId, [{ mq, epoch, offset }])
  }
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const why = 'why' in error && error.why ? ` (${error.why})` : ''
  return `${'code' in error ? `${error.code}: ` : ''}${error.message}${why}\n${error.stack}`
}
