import { openBroker } from '../../../src/core/open-broker.ts'

/**
 * A process of its own that opens the store and says `ready`; then it sends messages of `size` bytes one after the
 * other until it has sent `count` or fails, and tells how many were acknowledged and with what error it ended.
 */
const [db = '', topic = '', count = '0', size = '1'] = process.argv.slice(2)

async function work(): Promise<object> {
  await using broker = await openBroker({ db })
  if (topic === '') return { sent: 0, topics: (await broker.listTopics()).length }
  process.stdout.write('ready\n')
  const queues = await broker.publishQueues(topic)
  let sent = 0
  try {
    for (; sent < Number(count); sent++) {
      const mq = queues[sent % queues.length]
      if (mq === undefined) throw new Error('no queues')
      const body = Buffer.alloc(Number(size), `${process.pid} `)
      await broker.send([{ mq, messages: [{ topic, key: `${process.pid}`, body }] }])
    }
  } catch (error) {
    return { sent, error: (error as { code?: string }).code ?? String(error) }
  }
  return { sent }
}

let result: object
try {
  result = await work()
} catch (error) {
  result = { sent: 0, error: (error as { code?: string }).code ?? String(error) }
}
process.stdout.write(`${JSON.stringify(result)}\n`)
