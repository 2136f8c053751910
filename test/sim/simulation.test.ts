import { rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { FAULTS } from './faults.ts'
import { report, scratchFolder } from './report.ts'
import { Simulation } from './simulation.ts'

/** One seed by RMQ_SEED, to repeat what failed; else the schedules that every run goes through. */
const ONLY = process.env.RMQ_SEED === undefined ? undefined : Number(process.env.RMQ_SEED)
const SCHEDULES = 1000
const SCHEDULES_PER_TEST = 100
/** Each planted fault shows within far fewer. */
const SEEDS_PER_FAULT_MAX = 200

const folder = scratchFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function expectSound(seed: number): Promise<void> {
  const outcome = await new Simulation(seed, folder).run()
  if (outcome.broken) throw new Error(report(outcome))
}

if (ONLY === undefined) {
  describe('the client and the embedded broker under a simulated machine', allSchedules)
  describe('a planted fault is caught', allFaults)
} else {
  it(`the schedule of seed ${ONLY}`, () => expectSound(ONLY))
}

function allSchedules() {
  const firsts = Array.from({ length: SCHEDULES / SCHEDULES_PER_TEST }, (_, i) => 1 + i * SCHEDULES_PER_TEST)
  it.each(firsts)(
    `keep the invariants through ${SCHEDULES_PER_TEST} schedules from seed %i on`,
    async (first) => {
      for (let seed = first; seed < first + SCHEDULES_PER_TEST; seed++) await expectSound(seed)
    },
    120_000,
  )

  it('is the same again for the same seed: time, chance and timers are all passed in', async () => {
    for (const seed of [7, 42, 666]) {
      const [first, again] = [
        await new Simulation(seed, folder).run(),
        await new Simulation(seed, folder).run(),
      ]
      expect(again.hash).toBe(first.hash)
      expect(again.steps).toBe(first.steps)
    }
    const hashes = [1, 2, 3].map(async (seed) => (await new Simulation(seed, folder).run()).hash)
    expect(new Set(await Promise.all(hashes)).size).toBe(3)
  }, 60_000)
}

function allFaults() {
  it.each(FAULTS)(
    '$name',
    async (fault) => {
      for (let seed = 1; seed <= SEEDS_PER_FAULT_MAX; seed++) {
        const { broken } = await new Simulation(seed, folder, fault).run()
        if (!broken) continue
        console.info(`"${fault.name}" is caught by seed ${seed}: ${broken.message.split('\n')[0]}`)
        expect(fault.breaks).toContain(broken.invariant)
        return
      }
      expect.fail(`nothing was noticed in ${SEEDS_PER_FAULT_MAX} schedules`)
    },
    120_000,
  )
}
