import { appendFileSync } from 'node:fs'
import { openBroker, Producer } from '../../src/core/index.ts'

/**
 * A process that sends rounds at full speed: in each round one message of every key of its own, in one step. What was
 * acknowledged it notes in a file.
 */
const [db = '', name = '', keys = '0', rounds = '0', acks = ''] = process.argv.slice(2)

await using broker = await openBroker({ db })
const producer = new Producer(broker, { createTopics: false })
for (let round = 0; round < Number(rounds); round++) {
  await producer.sendBatch(
    Array.from({ length: Number(keys) }, (_, i) => ({ topic: 't', key: `${name}-${i}`, body: `${round}` })),
  )
  appendFileSync(acks, `${name} ${round}\n`)
}
