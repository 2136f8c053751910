import { describe, expect, it } from 'vitest'
import { type BatchResult, type Message, type Producer, RmqError } from '../../../src/core/index.ts'
import { BatchSender } from '../../../src/ui/input/batch-sender.ts'

/** A producer whose sends end when the test says so. */
function slowProducer() {
  const sends: { readonly bodies: string[]; readonly end: (error?: Error) => void }[] = []
  const sendBatch = (messages: readonly Message[]) =>
    new Promise<BatchResult>((resolve, reject) => {
      const bodies = messages.map((message) => String(message.body))
      const result = () => {
        throw new Error('nobody asks for it')
      }
      sends.push({
        bodies,
        end: (error) => (error ? reject(error) : resolve({ count: messages.length, result })),
      })
    })
  return { sends, producer: { sendBatch } as unknown as Producer }
}

function sender(producer: Producer) {
  const stored: string[] = []
  let failures = 0
  const batches = new BatchSender({
    producer,
    send: {},
    onSent: (messages) => void stored.push(...messages.map((message) => String(message.body))),
    onFailed: () => failures++,
  })
  return { batches, stored, failures: () => failures }
}

const message = (body: string): Message => ({ topic: 't', body })
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('BatchSender', () => {
  it('sends what has arrived, and while that is on its way gathers the next batch', async () => {
    const { sends, producer } = slowProducer()
    const { batches, stored } = sender(producer)
    batches.add(message('a'), 1)
    batches.flush()
    batches.add(message('b'), 2)
    batches.add(message('c'), 3)
    batches.flush()
    await turn()
    expect(sends.map(({ bodies }) => bodies)).toEqual([['a']])
    sends[0]?.end()
    await turn()
    expect(stored).toEqual(['a'])
    expect(sends.map(({ bodies }) => bodies)).toEqual([['a'], ['b', 'c']])
    sends[1]?.end()
    await batches.finish()
    expect(stored).toEqual(['a', 'b', 'c'])
    expect(batches.sent).toBe(3)
  })

  it('holds up its source when a batch is full and another one on its way', async () => {
    const { sends, producer } = slowProducer()
    const { batches } = sender(producer)
    const waits = Array.from({ length: 2000 }, (_, i) => batches.add(message(String(i)), i + 1))
    expect(waits.findIndex((wait) => wait !== undefined)).toBe(1999)
    let isOver = false
    const room = Promise.resolve(waits[1999]).then(() => {
      isOver = true
    })
    await turn()
    expect(sends.map(({ bodies }) => bodies.length)).toEqual([1000])
    expect(isOver).toBe(false)
    sends[0]?.end()
    await room
    expect(sends.map(({ bodies }) => bodies.length)).toEqual([1000, 1000])
    sends[1]?.end()
    await batches.finish()
  })

  it('counts bytes too', async () => {
    const { sends, producer } = slowProducer()
    const { batches } = sender(producer)
    batches.add(message('x'.repeat(700_000)), 1)
    expect(sends).toHaveLength(0)
    batches.add(message('x'.repeat(700_000)), 2)
    await turn()
    expect(sends.map(({ bodies }) => bodies.length)).toEqual([2])
    sends[0]?.end()
    await batches.finish()
  })

  it('says at once that it failed, and why at the end', async () => {
    const { sends, producer } = slowProducer()
    const { batches, failures } = sender(producer)
    batches.add(message('a'), 1)
    batches.flush()
    await turn()
    sends[0]?.end(new RmqError('STORE_FULL', 'full'))
    await turn()
    expect(failures()).toBe(1)
    batches.add(message('b'), 2)
    await expect(batches.finish()).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(sends).toHaveLength(1)
    expect(batches.sent).toBe(0)
  })

  it('sends what stands before a message that is refused, and names its line', async () => {
    const refuse = new RmqError('INVALID_MESSAGE', 'the tag is blank', { hint: 'leave it out' })
    const sent: string[] = []
    const producer = {
      sendBatch: async (messages: readonly Message[]) => {
        if (messages.some((one) => one.tags === '')) throw refuse
        sent.push(...messages.map((one) => String(one.body)))
        return { count: messages.length }
      },
    } as unknown as Producer
    const { batches, stored } = sender(producer)
    for (const [i, body] of ['a', 'b', 'bad', 'c'].entries()) {
      batches.add({ topic: 't', body, ...(body === 'bad' ? { tags: '' } : {}) }, i + 10)
    }
    await expect(batches.finish()).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: 'line 12 cannot be sent: the tag is blank',
      hint: 'leave it out',
      details: { line: 12 },
    })
    expect(sent).toEqual(['a', 'b'])
    expect(stored).toEqual(['a', 'b'])
  })
})
