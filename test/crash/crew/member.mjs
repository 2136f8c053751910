import { pathToFileURL } from 'node:url'
import { planned } from './handler.mjs'

/** A process that consumes with a handler of its own, by the built library, until SIGTERM. */
const [library = '', db = '', mode = '', plan = '', options = ''] = process.argv.slice(2)
const { ConcurrentConsumer, OrderlyConsumer, openBroker } = await import(pathToFileURL(library).href)

const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())

const handle = planned(JSON.parse(plan), process.pid)
const broker = await openBroker({ db })
const Consumer = mode === 'orderly' ? OrderlyConsumer : ConcurrentConsumer
const consumer = new Consumer(broker, { group: 'g', topics: ['t'], ...JSON.parse(options) })
await consumer.start(
  ([message], { attempt }) => handle({ n: Number(Buffer.from(message.body)), key: message.key, attempt }),
  { signal: stop.signal },
)
await broker.close()
