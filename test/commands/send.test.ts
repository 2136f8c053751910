import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRmq } from '../helpers/rmq.ts'
import { parseLines, shop } from '../helpers/shop.ts'
import { tempFolder } from '../helpers/temp.ts'

describe('send of one message', () => {
  it('prints where it went, and says that it made the topic', async () => {
    const { run, records } = shop()
    const first = await run(['send', 'orders', 'paid', '--key', 'k', '--tag', 't', '--property', 'loc=a,b=c'])
    expect(first.status).toBe(0)
    expect(first.stdout).toMatch(/^[0-9A-F]{32}\t3\t0\n$/)
    expect(first.stderr).toMatch(/created topic orders with 8 queues/)
    const second = await run(['send', 'orders', '{"a":1}', '--key', 'k', '--json'])
    expect(JSON.parse(second.stdout)).toEqual({
      sent: [
        {
          msgId: expect.stringMatching(/^[0-9A-F]{32}$/),
          topic: 'orders',
          queueId: 3,
          queueOffset: 1,
          key: 'k',
          status: 'SEND_OK',
        },
      ],
    })
    expect(second.stderr).toBe('')
    expect(await records('orders')).toMatchObject([
      { key: 'k', tags: 't', properties: { loc: 'a,b=c' }, body: 'paid' },
      { key: 'k', tags: null, properties: {}, body: '{"a":1}' },
    ])
  })

  it('does not wait for a stdin that nobody writes to', async () => {
    const { db } = shop()
    const child = startRmq(['send', 'orders', 'x'], { db })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [status] = await once(child, 'exit')
    expect(status).toBe(0)
  })

  it('keeps a body byte for byte, from a file and from stdin', async () => {
    const { run } = shop()
    const body = randomBytes(300_000)
    const file = join(tempFolder(), 'body')
    writeFileSync(file, body)
    await run(['topics', 'create', 'blobs', '--queues', '1'])
    expect((await run(['send', 'blobs', '--file', file])).status).toBe(0)
    expect((await run(['send', 'blobs', '--file', '-'], { input: body })).status).toBe(0)
    const read = await run(['consume', 'blobs', '-g', 'g', '--orderly', '-f', '%s', '-c', '2'])
    expect(read.stdoutBytes.equals(Buffer.concat([body, body]))).toBe(true)
  })

  it('stores an empty body as 0 bytes, however it is said', async () => {
    const { run, records } = shop()
    const file = join(tempFolder(), 'empty')
    writeFileSync(file, '')
    for (const args of [[''], ['--file', '-'], ['--file', file]]) {
      expect((await run(['send', 'orders', ...args])).status).toBe(0)
    }
    expect((await run(['send', 'orders'], { input: '\n' })).status).toBe(0)
    expect((await records('orders')).map(({ bodySize }) => bodySize)).toEqual([0, 0, 0, 0])
    const none = await run(['send', 'orders'])
    expect(none.status).toBe(0)
    expect(none.stderr).toContain('sent 0 messages')
  })

  it('counts the size of a body in bytes', async () => {
    const { run, records } = shop()
    const atLimit = '汉'.repeat(1_398_101)
    expect((await run(['send', 'big', '--file', '-', '-q'], { input: atLimit })).status).toBe(0)
    const beyond = await run(['send', 'big', '--file', '-'], { input: `${atLimit}汉` })
    expect(beyond.status).toBe(2)
    expect(beyond.stderr).toContain('4194306')
    expect(beyond.stderr).toContain('4194304')
    expect(await records('big')).toHaveLength(1)
  })

  it('repeats a message', async () => {
    const { run, records } = shop()
    const repeated = await run(['send', 'orders', 'x', '-c', '1200', '--json'])
    expect(parseLines(repeated.stdout)).toHaveLength(1200)
    expect(repeated.stderr).toMatch(/sent 1,200 messages to 8 queues of orders in /)
    expect(await records('orders')).toHaveLength(1200)
  })
})

describe('send --selector and --rate', () => {
  it('chooses queues as it is told', async () => {
    const { run } = shop()
    const queueOf = async (...args: string[]) =>
      JSON.parse((await run(['send', 't', 'x', '--json', ...args])).stdout).sent[0].queueId
    expect(await queueOf('-p', '5')).toBe(5)
    expect(await queueOf('-p', '5', '--key', 'k')).toBe(5)
    expect(await queueOf('--selector', 'mod', '--key', '-17')).toBe(7)
    expect(await queueOf('--selector', 'mod', '--key', '12345678901234567890')).toBe(
      Number(12345678901234567890n % 8n),
    )
  })

  it('spreads messages over time', async () => {
    const { run, records } = shop()
    await run(['send', 't', '--rate', '50/s', '-q'], { input: 'x\n'.repeat(20) })
    const times = (await records('t')).map(({ storeTimestamp }) => Date.parse(storeTimestamp))
    // 20 messages are 19 pauses of 20 ms; late timers catch up by 200 ms at most.
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThanOrEqual(150)
  })
})

describe('values that begin with a dash', () => {
  it.each([
    ['--key=-c1', 'key', '-c1'],
    ['--key=--key', 'key', '--key'],
    ['--tag=-q', 'tags', '-q'],
  ])('are values when they stand behind =: %s', async (flag, field, value) => {
    const { run } = shop()
    expect(await run(['send', 't', flag, '--', '-body'])).toMatchObject({ status: 0 })
    const { stdout } = await run(['peek', 't', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ [field]: value, body: '-body' })
  })

  it('leave offsets and times what they are', async () => {
    const { run } = shop()
    await run(['send', 't', 'x', '--key', 'k'])
    const { stdout } = await run(['peek', 't', '--offset=-1', '--raw'])
    expect(stdout).toBe('x\n')
  })
})
