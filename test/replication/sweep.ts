import { parseArgs } from 'node:util'
import { loadHistory } from './data.ts'
import { replicate } from './replicate.ts'

/**
 * The long form of replication.test.ts:
 *
 *     npm run replication -- --seed 1 --runs 5 --kills 25 --data bullmq-git
 *
 * Run i takes seed + i. Exit code 1, and the seed, at the first run with problems.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: process.env.RMQ_SEED ?? '1' },
    runs: { type: 'string', default: '1' },
    kills: { type: 'string', default: '25' },
    data: { type: 'string', default: 'bullmq-git' },
  },
})

const data = loadHistory(values.data)
process.stdout.write(`${data.total} changes of ${data.name}\n`)
for (let run = 0; run < Number(values.runs); run++) {
  const seed = Number(values.seed) + run
  const { applied, repeats, kills, problems, folder } = await replicate(data, seed, Number(values.kills))
  process.stdout.write(`seed ${seed}: ${applied} applied, ${repeats} repeated, ${kills} kills\n`)
  if (problems.length === 0) continue
  process.stdout.write(
    `${problems.slice(0, 20).join('\n')}\n${problems.length} problems with seed ${seed}; see ${folder}\n`,
  )
  process.exitCode = 1
  break
}
