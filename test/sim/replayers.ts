import { replayDeadLetters } from '../../src/core/ops/replay.ts'
import { BrokenInvariant } from './broken-invariant.ts'
import { describe } from './members.ts'
import type { GroupPlan } from './plan.ts'
import type { SimProcess } from './process.ts'
import type { Simulation } from './simulation.ts'

/** Processes that send dead letters back, sometimes two at once, sometimes killed half way. */
export class Replayers {
  readonly #sim: Simulation
  #started = 0
  #living: SimProcess[] = []

  constructor(sim: Simulation) {
    this.#sim = sim
  }

  get living(): readonly SimProcess[] {
    return this.#living
  }

  start(group: GroupPlan): void {
    const { world } = this.#sim
    const process = world.spawn(`r${++this.#started}`)
    this.#living.push(process)
    process.onExit(() => {
      this.#living = this.#living.filter((one) => one !== process)
    })
    world.say(`${process.name} replays the dead letters of ${group.name}`)
    world.schedule(process, 0, 'start', () => void this.#run(process, group))
  }

  async #run(process: SimProcess, { name: group }: GroupPlan): Promise<void> {
    const { world } = this.#sim
    const { broker, stepped } = this.#sim.open(process)
    try {
      await replayDeadLetters(stepped, { group, filter: {}, all: true, maxReplays: 3 })
      await broker.close()
      process.exit()
    } catch (error) {
      world.failure ??= new BrokenInvariant(0, `${process.name} ended with ${describe(error)}`)
    }
  }
}
