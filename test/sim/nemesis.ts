import type { Strike } from './plan.ts'
import type { SimProcess } from './process.ts'
import type { Simulation } from './simulation.ts'

/** Does what the world does to processes. */
export class Nemesis {
  readonly #sim: Simulation
  readonly #strikes: Readonly<Record<Strike, () => void>>

  constructor(sim: Simulation) {
    this.#sim = sim
    this.#strikes = {
      kill: () => this.#victim()?.kill(),
      stop: () => this.#stop(),
      join: () => this.#join(),
      leave: () => this.#leave(),
      'step-wall-clock': () => this.#stepWallClock(),
      'force-release': () => this.#forceRelease(),
      trim: () => sim.trim(),
      replay: () => this.#replay(),
      'lose-liveness': () => this.#loseLiveness(),
    }
  }

  /** Before an event: perhaps something happens first. */
  perhaps(isCall: boolean): void {
    const { plan, world } = this.#sim
    if (!world.chance.hit(isCall ? plan.strikeAtCall : plan.strikeElsewhere)) return
    const strike = world.chance.weighted(plan.strikes)
    if (strike !== undefined) this.#strikes[strike]()
  }

  #stepWallClock(): void {
    const { plan, world } = this.#sim
    const far = world.chance.hit(0.5) ? 3_600_000 : plan.lockTtlMs * 2
    world.stepWall(world.chance.between(-far, far))
  }

  #victim(): SimProcess | undefined {
    const { members, producers, replayers, world } = this.#sim
    return world.chance.pick([
      ...members.living.map(({ process }) => process),
      ...producers.living,
      ...replayers.living,
    ])
  }

  #stop(): void {
    const { plan, world } = this.#sim
    const process = this.#victim()
    if (!process || process.isStopped) return
    process.stop()
    world.schedule(undefined, world.chance.between(0, plan.lockTtlMs * 2.5), 'SIGCONT', () =>
      process.continue(),
    )
  }

  #join(): void {
    const { members, plan, world } = this.#sim
    const group = world.chance.pick(plan.groups)
    if (group && members.living.length < plan.membersMax) members.start(group)
  }

  #leave(): void {
    const { members, world } = this.#sim
    const staying = members.living.filter(({ hasLeft }) => !hasLeft)
    if (staying.length > 1) world.chance.pick(staying)?.leave()
  }

  #forceRelease(): void {
    const { plan, world } = this.#sim
    const group = world.chance.pick(plan.groups)
    const topic = world.chance.pick(plan.topics)
    if (!group || !topic) return
    world.say(`locks of ${group.name} on ${topic.name} are released by force`)
    this.#sim.admin.releaseLocks({ group: group.name, topic: topic.name }, { force: true }).catch((error) => {
      world.failure ??= error
    })
  }

  #replay(): void {
    const { plan, replayers, world } = this.#sim
    const group = world.chance.pick(plan.groups)
    if (!group || replayers.living.length > 1 || !this.#sim.knowsGroup(group)) return
    replayers.start(group)
    if (world.chance.hit(0.5)) replayers.start(group)
  }

  #loseLiveness(): void {
    const { members, world } = this.#sim
    const process = world.chance.pick(members.living)?.process
    if (!process || world.weather.containers) return
    world.say(`${process.name} lost its proof of life`)
    world.loseLiveness(process)
  }
}
