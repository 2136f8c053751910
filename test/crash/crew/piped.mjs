import { createInterface } from 'node:readline'
import { planned } from './handler.mjs'

/** The same handler behind `--pipe`. What it has in work when its consumer dies it takes to its end. */
const handle = planned(JSON.parse(process.argv[2] ?? '{}'), process.ppid)
process.stdout.on('error', () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const { msgId, body, key, reconsumeTimes } = JSON.parse(line)
  void handle({ n: Number(body), key, attempt: reconsumeTimes + 1 }).then((result) =>
    process.stdout.write(`${JSON.stringify({ id: msgId, ...result })}\n`),
  )
}
