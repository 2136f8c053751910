import { seeded } from '../replication/random.ts'
import { changeQueues, type Step } from './change-queues.ts'

/**
 * The long form of the test: `npx tsx test/queue-count/sweep.ts [RUNS] [SEED]`. Each run changes the number of queues
 * many times, and kills consumers in between, at moments that follow from its seed.
 */
const [runs = '10', first = '1'] = process.argv.slice(2)
const CHANGES = [12, 5, 7, 1, 16, 8]

for (let seed = Number(first); seed < Number(first) + Number(runs); seed++) {
  const chance = seeded(seed)
  const steps = CHANGES.flatMap((queues): Step['what'][] =>
    chance() < 0.6 ? [queues, 'kill'] : [queues],
  ).map((what, i, all): Step => ({ what, at: (0.8 * (i + chance())) / all.length }))
  const {
    problems,
    runs: handled,
    kills,
    held,
  } = await changeQueues({
    producers: 2,
    consumers: 3,
    keys: 60,
    rounds: 400,
    firstQueues: 8,
    steps,
  })
  const barriers = `${held.filter(Boolean).length} of ${held.length} barriers held`
  console.log(`seed ${seed}: ${handled} runs, ${kills} kills, ${barriers}, ${problems.length} problems`)
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
