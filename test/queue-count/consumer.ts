import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { OrderlyConsumer, openBroker } from '../../src/core/index.ts'

/**
 * A process that consumes in order until SIGTERM, and notes each message before it is done with it. All consumers
 * append to one file, so its lines stand in the order in which handlers ran. Some queues are slow, so that what is
 * sent to another one after a change would overtake them.
 */
const [db = '', journal = ''] = process.argv.slice(2)
const SLOW_EVERY = 3
const SLOW_MS = 1

const file = openSync(journal, 'a')
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())

await using broker = await openBroker({ db })
const consumer = new OrderlyConsumer(broker, { group: 'g', topics: ['t'] })
await consumer.start(
  async (messages) => {
    for (const { key, body, queueId } of messages) {
      writeSync(file, `${process.pid} ${key} ${Buffer.from(body)} ${queueId}\n`)
      if (queueId % SLOW_EVERY === 0) await sleep(SLOW_MS)
    }
  },
  { signal: stop.signal },
)
