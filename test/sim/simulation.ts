import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Broker } from '../../src/core/broker.ts'
import { EmbeddedBroker } from '../../src/core/sqlite/embedded-broker.ts'
import { BrokenInvariant, hold } from './broken-invariant.ts'
import { Checker } from './checker/checker.ts'
import type { Fault } from './fault.ts'
import { Members } from './members.ts'
import { Nemesis } from './nemesis.ts'
import { drawPlan, type GroupPlan, type Plan } from './plan.ts'
import type { SimProcess } from './process.ts'
import { Producers } from './producers.ts'
import { Replayers } from './replayers.ts'
import { type BrokerCall, steppedBroker } from './stepped-broker.ts'
import { StoreView } from './store-view.ts'
import { SimWorld } from './world.ts'

/** Longest time that healthy members may need for what is left, and a stop to be over; virtual milliseconds. */
const CALM_MS_MAX = 60_000
const END_MS_MAX = 60_000
const STEPS_MAX = 200_000

export interface Outcome {
  readonly seed: number
  readonly broken: BrokenInvariant | undefined
  readonly hash: string
  readonly steps: number
  /** Virtual milliseconds. */
  readonly elapsed: number
  /** The last events, for people. */
  readonly events: readonly string[]
}

/** One schedule: the plan of a seed carried out on a file of its own. */
export class Simulation {
  readonly plan: Plan
  readonly world: SimWorld
  readonly fault: Fault | undefined
  readonly checker: Checker
  readonly members: Members
  readonly producers: Producers
  readonly replayers: Replayers
  readonly admin: Broker
  /** Nothing bad happens any more: what is left must be done in bounded time. */
  isCalm = false
  /** Members that end stay away. */
  isOver = false
  readonly #path: string
  readonly #view: StoreView
  readonly #nemesis: Nemesis
  readonly #opened: { readonly process: SimProcess; readonly broker: EmbeddedBroker }[] = []
  #lastLabel = ''

  constructor(seed: number, folder: string, fault?: Fault) {
    const { plan, chance } = drawPlan(seed)
    this.plan = plan
    this.fault = fault
    this.#path = join(folder, `${seed}.db`)
    this.world = new SimWorld(chance, plan.weather)
    this.world.bend = (runtime) => fault?.bend?.(runtime, this.#scene) ?? runtime
    this.admin = this.open(this.world.spawn('admin')).broker
    this.#view = new StoreView(this.#path)
    this.checker = new Checker(this.world, this.#view, plan.groups)
    this.members = new Members(this)
    this.producers = new Producers(this)
    this.replayers = new Replayers(this)
    this.#nemesis = new Nemesis(this)
    this.world.afterStep = (actor) => this.checker.observe(actor)
    this.world.beforeStep = (event) => {
      this.#lastLabel = event.label
    }
  }

  async run(): Promise<Outcome> {
    let broken: BrokenInvariant | undefined
    try {
      await this.#play()
    } catch (error) {
      if (!(error instanceof BrokenInvariant)) throw error
      broken = error
    } finally {
      await this.#cleanUp()
    }
    const { trace, steps, elapsed } = this.world
    const { seed } = this.plan
    return { seed, broken, hash: trace.hash, steps, elapsed, events: trace.last(60) }
  }

  /** The broker of a process, as it is and as its client sees it. */
  open(process: SimProcess): { readonly broker: EmbeddedBroker; readonly stepped: Broker } {
    const broker = EmbeddedBroker.open({
      path: this.#path,
      durability: 'normal',
      host: process.host,
      create: true,
    })
    this.#opened.push({ process, broker })
    return {
      broker,
      stepped: steppedBroker(broker, process, { around: (call, next) => this.#around(call, next) }),
    }
  }

  /** Retention takes what every group has passed. */
  trim(): void {
    for (const [row, passed] of this.checker.passedByAll()) {
      if (!this.world.chance.hit(0.7)) continue
      const { min = 0 } = this.checker.messages.queues.get(row) ?? {}
      const to = this.world.chance.hit(0.6) ? passed : this.world.chance.int(min, Math.max(min, passed))
      if (to <= min) continue
      this.world.say(`queue ${row} is trimmed to ${to}`)
      this.#view.trim(row, to)
    }
    this.checker.observe(undefined)
  }

  knowsGroup(group: GroupPlan): boolean {
    return this.checker.knows(group)
  }

  async #play(): Promise<void> {
    const { plan, world } = this
    for (const { name, queues } of plan.topics)
      await this.#admin(this.admin.createTopic({ topic: name, queues }))
    this.checker.observe(undefined)
    for (const group of plan.groups) for (let i = 0; i < group.members; i++) this.members.start(group)
    for (let i = 0; i < plan.producers; i++) this.producers.start()
    while (world.elapsed < plan.chaosMs) {
      this.#nemesis.perhaps(/^(call|return) /.test(this.#lastLabel))
      await this.#step()
    }
    this.#calm()
    const { producers, replayers } = this
    const isDone = () => producers.areDone && replayers.living.length === 0 && this.checker.isDrained
    await this.#until(isDone, CALM_MS_MAX, () => `no progress: ${this.checker.backlog()}`)
    await this.#end()
  }

  #calm(): void {
    this.world.say('all is calm')
    this.isCalm = true
    this.world.weather.wakeLoss = Math.min(this.world.weather.wakeLoss, 0.5)
    for (const process of this.world.processes) process.continue()
    for (const group of this.plan.groups) {
      if (this.members.of(group).every(({ hasLeft }) => hasLeft)) this.members.start(group)
    }
  }

  async #end(): Promise<void> {
    this.world.say('all is consumed')
    this.isOver = true
    for (const member of this.members.living) if (!member.hasLeft) member.leave()
    const { members } = this
    const names = () => members.living.map(({ process }) => process.name)
    await this.#until(
      () => members.living.length === 0,
      END_MS_MAX,
      () => `${names()} do not end`,
    )
    this.checker.finish()
    const { violations } = await this.#admin(this.admin.audit?.({}) ?? Promise.reject())
    const [first] = violations
    hold(!first, first?.invariant ?? 0, () => `audit: ${JSON.stringify(violations)}`)
  }

  async #until(isReached: () => boolean, limitMs: number, what: () => string): Promise<void> {
    const limit = this.world.elapsed + limitMs
    while (!isReached()) {
      hold(this.world.elapsed < limit, 0, () => `${what()} after ${limitMs} ms`)
      await this.#step()
    }
  }

  async #step(): Promise<void> {
    hold(await this.world.step(), 0, () => 'nothing is left to happen')
    hold(this.world.steps < STEPS_MAX, 0, () => `${STEPS_MAX} steps`)
  }

  /** Lets events happen until a call of the admin's own broker is answered. */
  async #admin<T>(call: Promise<T>): Promise<T> {
    let isAnswered = false
    const answer = call.finally(() => {
      isAnswered = true
    })
    answer.catch(() => {})
    while (!isAnswered && (await this.world.step()));
    return await answer
  }

  async #around(call: BrokerCall, next: () => Promise<unknown>): Promise<unknown> {
    this.checker.calling(call)
    const { world } = this
    if (/^(pull|redelivery.pull|memberIds)$/.test(call.name)) world.trace.count(call.name)
    else world.say(`${call.process.name} calls ${call.name}`)
    const around = this.fault?.around
    const result = await (around ? around(call, next, this.#scene) : next())
    this.checker.answered(call, result)
    return result
  }

  get #scene() {
    return { world: this.world, view: this.#view }
  }

  /** Closes every connection, also those of the dead, whose pending turns come now. */
  async #cleanUp(): Promise<void> {
    this.#view.close()
    for (const { process, broker } of this.#opened) {
      process.kill()
      process.bury()
      let isClosed = false
      const closing = broker.close().then(
        () => {
          isClosed = true
        },
        () => {
          isClosed = true
        },
      )
      void closing
      for (let turns = 0; !isClosed && turns < 50; turns++) await new Promise(setImmediate)
    }
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${this.#path}${suffix}`, { force: true })
  }
}
