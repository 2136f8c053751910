import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type Broker,
  type Message,
  type MessageQueueSelector,
  openBroker,
  Producer,
  RmqError,
  type RmqErrorCode,
  systemRuntime,
} from '../../../src/core/index.ts'
import { intercept } from '../../helpers/intercept.ts'
import { tempDb } from '../../helpers/temp.ts'

const KEYED: Message = { topic: 'T', key: 'order-1001', body: 'x' }
const KEYLESS: Message = { topic: 'T', body: 'x' }

async function opened(queues = 8): Promise<Broker> {
  const broker = await openBroker({ db: tempDb() })
  onTestFinished(() => broker.close())
  await broker.createTopic({ topic: 'T', queues })
  return broker
}

const third: MessageQueueSelector = (queues) => queues[2]

/** A broker whose first sends fail, and what it was asked to send. */
function failing(broker: Broker, ...codes: RmqErrorCode[]) {
  const asked: { readonly queueId: number; readonly queues: number | undefined }[] = []
  const send: Broker['send'] = async (groups) => {
    asked.push(...groups.map(({ mq, queues }) => ({ queueId: mq.queueId, queues })))
    const code = codes.shift()
    if (code) throw new RmqError(code, 'as the test wants it')
    return broker.send(groups)
  }
  return { broker: intercept(broker, { send }), asked }
}

const stored = async (broker: Broker) =>
  (await broker.queueStats('T')).reduce((sum, { maxOffset }) => sum + maxOffset, 0)

describe('a send that fails with nothing stored', () => {
  it('is tried twice more on the queues that follow, when any queue will do', async () => {
    const { broker, asked } = failing(await opened(), 'STORE_BUSY', 'STORE_BUSY')
    const result = await new Producer(broker).send(KEYLESS)
    const [first = 0] = asked.map(({ queueId }) => queueId)
    expect(asked.map(({ queueId }) => queueId)).toEqual([first, (first + 1) % 8, (first + 2) % 8])
    expect(result.queueId).toBe((first + 2) % 8)
  })

  it('fails for good after the third try', async () => {
    const { broker, asked } = failing(await opened(), 'STORE_BUSY', 'STORE_BUSY', 'STORE_BUSY')
    await expect(new Producer(broker).send(KEYLESS)).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect(asked).toHaveLength(3)
  })

  it.each([
    ['a key', KEYED, {}],
    ['a named selector', KEYLESS, { selector: 'random' as const }],
    ['a custom selector', KEYLESS, { selector: third }],
    ['a queue', KEYLESS, { queueId: 2 }],
  ])('is not tried again with %s', async (_, message, options) => {
    const { broker, asked } = failing(await opened(), 'STORE_BUSY')
    await expect(new Producer(broker).send(message, options)).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect(asked).toHaveLength(1)
  })

  it('is not tried again in a batch with one keyed message', async () => {
    const { broker, asked } = failing(await opened(), 'STORE_BUSY')
    await expect(new Producer(broker).sendBatch([KEYLESS, KEYED])).rejects.toMatchObject({
      code: 'STORE_BUSY',
    })
    // One group a queue, and the keyless one may have come to the other's: a second try would ask again.
    const queueIds = asked.map(({ queueId }) => queueId)
    expect(queueIds).toEqual([...new Set(queueIds)])
  })

  it.each(['STORE_FULL', 'STORE_MOVED', 'MESSAGE_TOO_LARGE', 'TIMED_OUT', 'IO_ERROR'] as const)(
    'is not tried again after %s',
    async (code) => {
      const { broker, asked } = failing(await opened(), code)
      await expect(new Producer(broker).send(KEYLESS)).rejects.toMatchObject({ code })
      expect(asked).toHaveLength(1)
    },
  )

  it('is tried as often as its producer says', async () => {
    const { broker, asked } = failing(await opened(), 'STORE_BUSY')
    const producer = new Producer(broker, { retryTimesWhenSendFailed: 0 })
    await expect(producer.send(KEYLESS)).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect(asked).toHaveLength(1)
  })

  it('is not tried again when more than three seconds went by', async () => {
    const real = await opened()
    let late = 0
    const runtime = { ...systemRuntime, monotonic: () => systemRuntime.monotonic() + late }
    const send: Broker['send'] = async () => {
      late += 3_001
      throw new RmqError('STORE_BUSY', 'after a long wait')
    }
    const spy = vi.fn(send)
    await expect(new Producer(intercept(real, { send: spy, runtime })).send(KEYLESS)).rejects.toMatchObject({
      code: 'STORE_BUSY',
    })
    expect(spy).toHaveBeenCalledTimes(1)
  })
})

describe('the number of queues behind a choice', () => {
  it.each([
    ['the key', KEYED, {}, 8],
    ['mod', { ...KEYED, key: '3' }, { selector: 'mod' as const }, 8],
    ['a custom selector', KEYLESS, { selector: third }, 8],
    ['round-robin', KEYLESS, {}, undefined],
    ['round-robin in spite of a key', KEYED, { selector: 'round-robin' as const }, undefined],
    ['random', KEYED, { selector: 'random' as const }, undefined],
    ['a queue id', KEYED, { queueId: 2 }, undefined],
  ])('is told to the broker as it should be with %s', async (_, message, options, queues) => {
    const { broker, asked } = failing(await opened())
    await new Producer(broker).send(message, options)
    expect(asked.map((one) => one.queues)).toEqual([queues])
  })
})

describe('a route that changed', () => {
  it('is asked for again, and the key selects its queue anew', async () => {
    const real = await opened(4)
    const { broker, asked } = failing(real, 'ROUTE_CHANGED')
    let queues = 4
    const publishQueues: Broker['publishQueues'] = async (topic) =>
      Array.from({ length: queues }, (_, queueId) => ({ topic, brokerName: 'embedded', queueId }))
    const send: Broker['send'] = async (groups) => {
      queues = 8
      return broker.send(groups)
    }
    const changed = intercept(real, { publishQueues, send })
    // |hash('order-1001')| is 3 modulo 4 and 7 modulo 8; the real topic has no queue 7.
    await expect(new Producer(changed).send(KEYED)).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' })
    expect(asked).toEqual([
      { queueId: 3, queues: 4 },
      { queueId: 7, queues: 8 },
    ])
  })

  it('is found by the broker itself when the topic was altered', async () => {
    const broker = await opened(4)
    const producer = new Producer(broker)
    expect(await producer.send(KEYED)).toMatchObject({ queueId: 3 })
    await broker.admin.alterTopic('T', { queues: 8 })
    expect(await producer.send(KEYED)).toMatchObject({ queueId: 7 })
    expect(await producer.send(KEYLESS, { queueId: 5 })).toMatchObject({ queueId: 5 })
    expect(await stored(broker)).toBe(3)
  })

  it('is given up when it does not stand still', async () => {
    const { broker, asked } = failing(await opened(), ...Array<RmqErrorCode>(10).fill('ROUTE_CHANGED'))
    await expect(new Producer(broker).send(KEYED)).rejects.toMatchObject({ code: 'ROUTE_CHANGED' })
    expect(asked).toHaveLength(4)
  })

  it('is noticed by round-robin after half a minute, which goes on where it was', async () => {
    const real = await opened()
    let later = 0
    const looks: number[] = []
    const publishQueues: Broker['publishQueues'] = async (topic) => {
      looks.push(later)
      return real.publishQueues(topic)
    }
    const runtime = { ...systemRuntime, monotonic: () => systemRuntime.monotonic() + later }
    const producer = new Producer(intercept(real, { publishQueues, runtime }))
    const first = (await producer.send(KEYLESS)).queueId
    await producer.send(KEYLESS)
    later = 30_000
    expect((await producer.send(KEYLESS)).queueId).toBe((first + 2) % 8)
    expect(looks).toEqual([0, 30_000])
  })

  it('leads to a topic that was made anew', async () => {
    const real = await opened()
    const { broker, asked } = failing(real, 'TOPIC_NOT_FOUND')
    await new Producer(broker).send(KEYED)
    expect(asked).toHaveLength(2)
    expect(await stored(real)).toBe(1)
  })

  it('is no reason to send twice when there really is no such queue', async () => {
    const real = await opened()
    const { broker, asked } = failing(real)
    await expect(new Producer(broker).send(KEYED, { queueId: 8 })).rejects.toMatchObject({
      code: 'QUEUE_NOT_FOUND',
    })
    expect(asked).toEqual([])
  })

  it('without queues that take messages is an error that says so', async () => {
    const real = await opened()
    const broker = intercept(real, { publishQueues: async () => [] })
    await expect(new Producer(broker).send(KEYED)).rejects.toMatchObject({
      code: 'TOPIC_READ_ONLY',
      details: { topic: 'T' },
    })
  })
})

describe('a time limit', () => {
  const never = () => new Promise<never>(() => {})

  it('ends a send that has no answer, and says that it may be stored', async () => {
    const broker = intercept(await opened(), { send: never })
    await expect(new Producer(broker).send(KEYED, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMED_OUT',
      why: expect.stringContaining('may have been stored'),
      details: { timeoutMs: 20, mayBeStored: true },
    })
  })

  it('says that nothing is stored when the broker never had it, and sends nothing later', async () => {
    const real = await opened()
    let answer = () => {}
    const waiting = new Promise<void>((resolve) => {
      answer = resolve
    })
    const publishQueues: Broker['publishQueues'] = async (topic) => {
      await waiting
      return real.publishQueues(topic)
    }
    const send = vi.fn(real.send.bind(real))
    const broker = intercept(real, { publishQueues, send })
    await expect(new Producer(broker).send(KEYED, { timeoutMs: 20 })).rejects.toMatchObject({
      details: { mayBeStored: false },
    })
    answer()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(send).not.toHaveBeenCalled()
  })

  it('leaves a send in time alone', async () => {
    expect(await new Producer(await opened()).send(KEYED, { timeoutMs: 10_000 })).toMatchObject({
      queueId: 7,
    })
  })

  it.each([0, -1, 1.5, Number.NaN])('of %d ms is refused', async (timeoutMs) => {
    await expect(new Producer(await opened()).send(KEYED, { timeoutMs })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })
})

describe('a one-way send', () => {
  it('is stored in the order of the calls, and flush waits for it', async () => {
    const broker = await opened()
    const producer = new Producer(broker)
    for (let i = 0; i < 200; i++) producer.sendOneway({ topic: 'T', key: 'order-1001', body: `${i}` })
    await producer.flush()
    const { messages } = await broker.pull({
      mq: { topic: 'T', brokerName: 'embedded', queueId: 7 },
      offset: 0,
      maxMessages: 256,
      waitMs: 0,
    })
    expect(messages.map(({ body }) => Buffer.from(body).toString())).toEqual(
      Array.from({ length: 200 }, (_, i) => `${i}`),
    )
  })

  it('is never tried again, and only a listener hears of it', async () => {
    const { broker, asked } = failing(await opened(), 'STORE_BUSY', 'ROUTE_CHANGED')
    const heard: unknown[] = []
    const producer = new Producer(broker, {
      onOnewayError: (error, message) => heard.push([(error as RmqError).code, message.body]),
    })
    producer.sendOneway({ topic: 'T', body: 'a' })
    producer.sendOneway({ topic: 'T', key: 'k', body: 'b' })
    producer.sendOneway({ topic: 'T', body: 'c' })
    await producer.flush()
    expect(asked).toHaveLength(3)
    expect(heard).toEqual([
      ['STORE_BUSY', 'a'],
      ['ROUTE_CHANGED', 'b'],
    ])
  })

  it('that nobody listens to disturbs nothing', async () => {
    const producer = new Producer(await opened(), { createTopics: false })
    expect(producer.sendOneway({ topic: 'nowhere', body: 'x' })).toBeUndefined()
    await expect(producer.flush()).resolves.toBeUndefined()
  })

  it('is dropped when too many are on their way', async () => {
    const broker = intercept(await opened(), { send: () => new Promise<never>(() => {}) })
    const heard: unknown[] = []
    const producer = new Producer(broker, { onOnewayError: (error) => heard.push(error) })
    for (let i = 0; i < 65_536; i++) producer.sendOneway(KEYLESS)
    expect(heard).toMatchObject([{ code: 'STORE_BUSY' }])
  })
})

it('sends that are not awaited keep the order of their calls', async () => {
  const broker = await opened()
  const producer = new Producer(broker)
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, i) => producer.send({ ...KEYED, body: `${i}` })),
  )
  expect(results.map(({ queueOffset }) => queueOffset)).toEqual(results.map((_, i) => i))
})

it('keeps delayed and prompt messages of a batch apart, and each result in its place', async () => {
  const real = await opened()
  const groups: (readonly Message[])[] = []
  const send: Broker['send'] = async (all) => {
    groups.push(...all.map(({ messages }) => messages))
    return all.map(({ mq, messages }) => ({
      ...mq,
      queueOffset: messages[0]?.delayMs === undefined ? 40 : null,
      count: messages.length,
      msgId: (i) => `${messages[i]?.body}`,
    }))
  }
  const bodies = ['a', 'later b', 'c', 'later d']
  const messages = bodies.map((body) => ({
    ...KEYED,
    body,
    ...(body.startsWith('later') && { delayMs: 1000 }),
  }))
  const batch = await new Producer(intercept(real, { send })).sendBatch(messages)
  expect(groups.map((group) => group.map(({ body }) => body))).toEqual([
    ['a', 'c'],
    ['later b', 'later d'],
  ])
  expect(bodies.map((_, i) => batch.result(i))).toMatchObject([
    { msgId: 'a', queueOffset: 40 },
    { msgId: 'later b', queueOffset: null },
    { msgId: 'c', queueOffset: 41 },
    { msgId: 'later d', queueOffset: null },
  ])
})
