import { once } from 'node:events'
import {
  type BenchProducer,
  ConsumerRole,
  type Join,
  openBaseline,
  openBroker,
  PLAIN_PLAN,
  Producer,
  ProducerRole,
  queueOf,
  RmqError,
  seededRuntime,
  systemRuntime,
  type WorkerOrder,
  type WorkerSpec,
} from '../core/index.ts'
import { consumeByPlan } from './bench-consumer.ts'
import type { WorkerMessage } from './bench-processes.ts'

/** Serves the orders of the process that forked this one, until that one disconnects or dies. */
export async function serveBench(): Promise<void> {
  if (process.send === undefined) {
    throw new RmqError('INVALID_ARGUMENT', 'rmq bench worker is started by other benchmarks', {
      hint: 'rmq bench send, rmq bench consume or rmq bench e2e',
    })
  }
  // Ctrl-C reaches the whole process group. The main process decides; its end is noticed by the channel.
  process.on('SIGINT', () => {})
  if (!process.connected) return
  const gone = once(process, 'disconnect')
  const first = await Promise.race([once(process, 'message'), gone.then(() => undefined)])
  if (first === undefined) return
  const worker = await openWorker(first[0] as WorkerSpec)
  try {
    process.on('message', (order: WorkerOrder) => void answer(() => obey(order, worker)))
    await answer(async () => null)
    await gone
  } finally {
    await worker.close()
  }
}

async function obey(order: WorkerOrder, worker: Worker): Promise<unknown> {
  switch (order.do) {
    case 'memory':
      return process.resourceUsage().maxRSS * 1024
    case 'freeze':
      // From here, not from outside: a transaction is never open between two turns, and would lock everybody out.
      setImmediate(() => process.kill(process.pid, 'SIGSTOP'))
      return null
    default:
      return worker.handle(order)
  }
}

async function answer(work: () => Promise<unknown>): Promise<void> {
  let message: WorkerMessage
  try {
    message = { value: await work() }
  } catch (error) {
    message = { failure: error instanceof Error ? error.message : String(error) }
  }
  if (process.connected) process.send?.(message)
}

interface Worker {
  readonly handle: (order: WorkerOrder) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** One of the two files, opened as both roles need it. */
interface Side {
  readonly producer: BenchProducer
  readonly join: Join
  readonly close: () => Promise<void>
}

async function openWorker(spec: WorkerSpec): Promise<Worker> {
  const { settings, role, index } = spec
  const runtime = seededRuntime(systemRuntime, settings.seed * 1000 + index)
  const side = spec.side === 'ours' ? await openOurs(spec) : await openRaw(spec)
  // Each role is only sent orders of its own kind.
  if (role === 'producer') {
    const producer = new ProducerRole(side.producer, settings, runtime)
    return { handle: (order) => producer.handle(order as never), close: side.close }
  }
  const consumer = new ConsumerRole(side.join, runtime, { stamped: spec.stamped })
  return {
    handle: (order) => consumer.handle(order as never),
    close: async () => {
      await consumer.handle({ do: 'leave' })
      await side.close()
    },
  }
}

async function openOurs({ path, settings, plan = PLAIN_PLAN }: WorkerSpec): Promise<Side> {
  const broker = await openBroker({ db: path, durability: settings.durability })
  return {
    producer: new Producer(broker, {}),
    join: (group, onBody) => {
      const stop = new AbortController()
      const ended = consumeByPlan(broker, plan, {
        group,
        topic: settings.topic,
        onMessage: ({ body }) => onBody(body),
        signal: stop.signal,
      })
      return {
        leave: async () => {
          stop.abort()
          await ended
        },
      }
    },
    close: () => broker.close(),
  }
}

async function openRaw({ path, settings }: WorkerSpec): Promise<Side> {
  const { queues, durability } = settings
  const baseline = await openBaseline({ path, durability, queues })
  return {
    producer: {
      send: async (message) => {
        baseline.send([message], [queueOf('java', message.key ?? '', queues).queueId], 1)
        baseline.wake()
      },
      sendBatch: async () => {
        throw new RangeError('the baseline sends its batches in the main process')
      },
    },
    join: (_group, onBody) => {
      const stop = baseline.follow((_queueId, row) => onBody(row[7]))
      return { leave: async () => stop() }
    },
    close: async () => baseline.close(),
  }
}
