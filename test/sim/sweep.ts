import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { report, scratchFolder } from './report.ts'
import { Simulation } from './simulation.ts'

/**
 * The long form of simulation.test.ts:
 *
 *     npm run sim -- --seed 1 --runs 10000
 *
 * Schedule i takes seed + i; RMQ_SEED says the first one too. Exit code 1 when one broke; `--keep-going` looks at
 * the others as well.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: process.env.RMQ_SEED ?? '1' },
    runs: { type: 'string', default: '1000' },
    'keep-going': { type: 'boolean', default: false },
  },
})

const folder = scratchFolder()
const since = performance.now()
const runs = Number(values.runs)
let broken = 0
let steps = 0
let done = 0
try {
  for (; done < runs && (broken === 0 || values['keep-going']); done++) {
    const outcome = await new Simulation(Number(values.seed) + done, folder).run()
    steps += outcome.steps
    if (outcome.broken === undefined) continue
    broken++
    process.stdout.write(`${report(outcome)}\n\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const seconds = (performance.now() - since) / 1000
process.stdout.write(`${done} schedules, ${broken} broken, ${steps} events, ${seconds.toFixed(1)} s\n`)
process.exitCode = broken > 0 ? 1 : 0
