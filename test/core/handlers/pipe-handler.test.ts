import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PipeHandler, type PipeHandlerOptions } from '../../../src/core/handlers/pipe-handler.ts'
import type { MessageExt } from '../../../src/core/model/message.ts'
import { type Collected, collect, consume, contextOf, messageOf } from './fixture.ts'

const CHILD = fileURLToPath(new URL('pipe-child.mjs', import.meta.url))

let stderr: Collected
let handler: PipeHandler
let offset = 0

function open(options: Partial<PipeHandlerOptions> = {}): PipeHandler {
  const command = `exec '${process.execPath}' '${CHILD}'`
  handler = new PipeHandler({ command, onStderr: stderr.push, killGraceMs: 500, ...options })
  return handler
}

/** A message that tells the child what to do. */
const tell = (text: string): MessageExt => messageOf({ queueOffset: ++offset, text })
const say = (text: string) => consume(handler, [tell(text)])

beforeEach(() => {
  stderr = collect()
  open()
})
afterEach(() => handler.close())

describe('a status line', () => {
  test.each([
    ['success', { status: 'success' }],
    ['retry', { status: 'retry' }],
    ['dead-letter', { status: 'dead-letter' }],
    ['commit', { status: 'commit' }],
    ['rollback', { status: 'rollback' }],
  ])('%s', async (status, result) => {
    expect(await say(`status ${status}`)).toEqual(result)
  })

  test('may say why, and how long to wait', async () => {
    const full = { status: 'retry', error: 'no stock', suspendMs: 250 }
    expect(await say(`failure ${JSON.stringify(full)}`)).toEqual(full)
    const odd = { status: 'dead-letter', error: { code: 7 }, suspendMs: 'soon' }
    expect(await say(`failure ${JSON.stringify(odd)}`)).toEqual({
      status: 'dead-letter',
      error: '{"code":7}',
    })
    const long = { status: 'retry', error: 'é'.repeat(3000) }
    expect(await say(`failure ${JSON.stringify(long)}`)).toEqual({ status: 'retry', error: 'é'.repeat(1024) })
  })

  test('may end with CR LF and may come in pieces', async () => {
    expect(await say('crlf')).toEqual({ status: 'success' })
    expect(await say('bytes größer als 10 €, 漢字 🚀')).toEqual({
      status: 'retry',
      error: 'größer als 10 €, 漢字 🚀',
    })
    expect(stderr.text()).toBe('')
  })

  test('may be the last words, without a newline', async () => {
    const message = tell('')
    const line = JSON.stringify({ id: message.msgId, status: 'success' })
    open({ command: `read record; printf '%s' '${line}'` })
    expect(await consume(handler, [message])).toEqual({ status: 'success' })
  })
})

describe('any other line settles nothing and goes to stderr', () => {
  test.each([
    ['text', 'working on it'],
    ['broken JSON', '{"id":'],
    ['another JSON value', '[1]'],
    ['no id', '{"status":"success"}'],
    ['an unknown id', '{"id":"00","status":"success"}'],
    ['an unknown status', '{"id":"00","status":"ok"}'],
    ['an id that is no string', '{"id":1,"status":"success"}'],
    ['a prototype member as status', '{"id":"00","status":"constructor"}'],
  ])('%s', async (_what, line) => {
    expect(await say(`noise ${line}`)).toEqual({ status: 'success' })
    expect(stderr.text()).toBe(`${line}\n`)
  })

  test('the id of a message that was settled before', async () => {
    const message = tell('status retry')
    await consume(handler, [message])
    const line = JSON.stringify({ id: message.msgId, status: 'success' })
    await say(`noise ${line}`)
    expect(stderr.text()).toBe(`${line}\n`)
  })

  test('a line above the bound is shown cut, and the next one counts', async () => {
    expect(await say(`long ${3 * 1024 * 1024}`)).toEqual({ status: 'success' })
    expect(stderr.bytes().length).toBeLessThan(1024 * 1024)
    expect(stderr.text()).toContain('xxx… (')
  })

  test('its stderr, as it is', async () => {
    expect(await say('stderr a complaint')).toEqual({ status: 'success' })
    await expect.poll(() => stderr.text()).toBe('a complaint\n')
  })
})

describe('messages', () => {
  test('reach the child as records', async () => {
    const message = messageOf({ text: 'echo  two  spaces\nand a line' })
    const { error = '' } = await consume(handler, [message])
    expect(JSON.parse(error)).toEqual({
      msgId: message.msgId,
      topic: 'orders',
      queueId: 3,
      queueOffset: 7,
      key: 'order-17',
      keys: ['order-17', 'customer-4'],
      tags: 'paid',
      reconsumeTimes: 0,
      bornTimestamp: '2026-08-01T12:30:15.250Z',
      storeTimestamp: '2026-08-01T12:30:15.251Z',
      properties: { region: 'eu' },
      body: 'echo  two  spaces\nand a line',
      bodySize: message.body.length,
    })
  })

  test('go to one process, which is recorded for each of them before it gets one', async () => {
    const first = contextOf()
    const second = contextOf()
    const { error: pid } = await consume(handler, [tell('pid')], first)
    expect((await consume(handler, [tell('pid')], second)).error).toBe(pid)
    expect(first.recorded).toEqual(second.recorded)
    expect(first.recorded).toEqual([{ pid: Number(pid), startTime: expect.stringMatching(/^\d+$/) }])
  })

  test('are not given when the lock is lost', async () => {
    expect(
      await consume(
        handler,
        [tell('noise begun')],
        contextOf(() => false),
      ),
    ).toMatchObject({ status: 'retry' })
    await say('status success')
    expect(stderr.text()).toBe('')
  })

  test('are answered in any order', async () => {
    const done: string[] = []
    const one = say('hold').then(() => done.push('one'))
    const two = say('hold').then(() => done.push('two'))
    await say('flush').then(() => done.push('three'))
    await Promise.all([one, two])
    expect(done).toEqual(['three', 'two', 'one'])
  })

  test('of one id wait for each other', async () => {
    const first = messageOf({ msgId: 'A', text: 'hold' })
    const second = messageOf({ msgId: 'A', text: 'failure {"status":"retry","error":"the second"}' })
    const results = [consume(handler, [first]), consume(handler, [second])]
    await say('flush')
    expect(await Promise.all(results)).toEqual([
      { status: 'success' },
      { status: 'retry', error: 'the second' },
    ])
  })

  test('by the hundred and by the megabyte get through', async () => {
    const body = `echo ${'x'.repeat(300_000)}`
    const many = Array.from({ length: 500 }, () => say('status success'))
    const large = Array.from({ length: 20 }, () => say(body))
    expect((await Promise.all(many)).every(({ status }) => status === 'success')).toBe(true)
    expect((await Promise.all(large)).every(({ status }) => status === 'retry')).toBe(true)
  })
})

describe('a batch', () => {
  test('succeeds when all of it does', async () => {
    expect(await consume(handler, [tell('hold'), tell('hold'), tell('flush')])).toEqual({ status: 'success' })
  })

  test('has the result of its first failure, in the order of the queue, and says what each message has', async () => {
    const late = tell('hold')
    const batch = [tell('status success'), late, tell('failure {"status":"dead-letter","error":"b"}')]
    const result = consume(handler, batch)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const line = JSON.stringify({ id: late.msgId, status: 'retry', error: 'a', suspendMs: 20 })
    await say(`noise ${line}`)
    const failure = { status: 'retry', error: 'a', suspendMs: 20 }
    expect(await result).toEqual({
      ...failure,
      results: [{ status: 'success' }, failure, { status: 'dead-letter', error: 'b' }],
    })
  })

  test.each([
    [['success', 'commit'], { status: 'commit' }],
    [['commit', 'success'], { status: 'success' }],
    [['success', 'rollback', 'commit'], { status: 'rollback' }],
  ])('committed by hand, of %j', async (statuses, result) => {
    const batch = statuses.map((status) => tell(`status ${status}`))
    expect(await consume(handler, batch)).toEqual(result)
  })

  test('with a failure is no rollback: without manual commit that would be a success', async () => {
    const batch = ['rollback', 'retry', 'commit'].map((status) => tell(`status ${status}`))
    expect(await consume(handler, batch)).toMatchObject({ status: 'retry' })
  })

  test('of several at once, in which one id is twice, gives the second when the first is answered', async () => {
    const twice = (text: string) => messageOf({ msgId: 'B', text })
    const first = consume(handler, [tell('hold'), twice('hold')])
    const second = consume(handler, [twice('failure {"status":"retry","error":"second"}'), tell('hold')])
    const third = consume(handler, [twice('failure {"status":"dead-letter","error":"third"}')])
    await say('flush')
    expect(await first).toEqual({ status: 'success' })
    expect(await third).toEqual({ status: 'dead-letter', error: 'third' })
    await say('flush')
    expect(await second).toMatchObject({ status: 'retry', error: 'second' })
  })
})

test('the command inherits the environment it is given', async () => {
  open({ env: { PATH: process.env.PATH, SHOP: 'north' } })
  expect(await say('env SHOP')).toEqual({ status: 'retry', error: 'north' })
})
