import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ModuleHandler } from '../../../src/core/handlers/module-handler.ts'
import { collect, consume, contextOf, makeFolder, messageOf } from './fixture.ts'
import { OBEDIENT, openModule } from './module-fixture.ts'

const folder = makeFolder()
const stderr = collect()
let handler: ModuleHandler
let offset = 0

const tell = (text: string) => messageOf({ queueOffset: ++offset, text })
const say = (text: string, context = contextOf()) => consume(handler, [tell(text)], context)

beforeAll(() => {
  handler = openModule(folder, OBEDIENT, { onStderr: stderr.push }).handler
})
afterAll(async () => {
  await handler.close()
  folder.remove()
})

describe('an answer', () => {
  test.each([
    ['', { status: 'success' }],
    ['return undefined', { status: 'success' }],
    ['return "success"', { status: 'success' }],
    ['return "retry"', { status: 'retry' }],
    ['return "dead-letter"', { status: 'dead-letter' }],
    ['return "commit"', { status: 'commit' }],
    ['return "rollback"', { status: 'rollback' }],
    [
      'return { status: "retry", error: "no stock", suspendMs: 250 }',
      { status: 'retry', error: 'no stock', suspendMs: 250 },
    ],
    ['return { status: "dead-letter", error: new Error("bad") }', { status: 'dead-letter', error: 'bad' }],
    [
      'return { status: "retry", error: { code: 7 }, suspendMs: -1 }',
      { status: 'retry', error: '{"code":7}' },
    ],
    ['throw new Error("out of stock")', { status: 'retry', error: 'out of stock' }],
    ['throw new Error("é".repeat(3000))', { status: 'retry', error: 'é'.repeat(1024) }],
    ['throw "a text"', { status: 'retry', error: 'a text' }],
    ['throw undefined', { status: 'retry', error: 'undefined was thrown' }],
    ['return message.json()', { status: 'retry', error: expect.stringContaining('JSON') }],
  ])('%s', async (work, result) => {
    expect(await say(work)).toEqual(result)
  })

  test.each([
    ['return 42', '42'],
    ['return "sucess"', 'sucess'],
    ['return { rows: 1 }', '{"rows":1}'],
    ['return null', 'null'],
    ['return 1n', '1'],
    ['const a = {}; a.a = a; return a', '[object Object]'],
  ])('that is none is a failure that says so: %s', async (work, shown) => {
    const known = 'success, retry, dead-letter, commit or rollback'
    const error = `the handler answered ${shown}; a status is ${known}`
    expect(await say(work)).toEqual({ status: 'retry', error })
  })
})

describe('the listener gets', () => {
  test('the message as a record, its body as bytes', async () => {
    const print = '{ ...message, body: [...message.body], isBytes: message.body instanceof Uint8Array }'
    const work = `return { status: 'retry', error: ${print} } //`
    const body = Buffer.concat([Buffer.from(work), Buffer.from([0, 255, 10])])
    const message = messageOf({ body })
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
      body: [...body],
      bodySize: body.length,
      isBytes: true,
    })
  })

  test('its context', async () => {
    const work = 'return { status: "retry", error: { ...context, signal: context.signal.aborted } }'
    const { error = '' } = await say(work, { ...contextOf(), attempt: 4 })
    expect(JSON.parse(error)).toEqual({
      group: 'mailer',
      topic: 'orders',
      queueId: 3,
      attempt: 4,
      signal: false,
    })
  })

  test('calls of several runs at once, which end in any order', async () => {
    const done: string[] = []
    const hold = '(globalThis.held ??= []).push'
    const one = say(`await new Promise((resolve) => ${hold}(resolve))`).then(() => done.push('one'))
    const two = say(`await new Promise((resolve) => ${hold}(resolve))`).then(() => done.push('two'))
    await say('held.pop()(); await null')
    await two
    expect(done).toEqual(['two'])
    await say('held.pop()()')
    await one
  })
})

test('text() and json() read the body; a list comes with a batch above 1, also of one message', async () => {
  const source = `export default (messages) => {
    const seen = messages.map((message) => [message.text(), message.json().größe, message.bodySize])
    return { status: 'retry', error: seen }
  }`
  const { handler: batch } = openModule(folder, source, { name: 'batch.mjs', batch: 3 })
  const error = async (...texts: string[]) => (await consume(batch, texts.map(tell))).error
  expect(await error('{"größe": 3}', '{"größe":"\u{1F680}"}')).toBe(
    JSON.stringify([
      ['{"größe": 3}', 3, 14],
      ['{"größe":"\u{1F680}"}', '\u{1F680}', 18],
    ]),
  )
  expect(await error('[]')).toBe('[["[]",null,2]]')
  expect(await error('{}', '')).toMatch(/JSON/)
  await batch.close()
})

test('a body that is a part of a larger buffer travels alone', async () => {
  const all = Buffer.from(
    'a secret of another message; return { status: "retry", error: message.body.buffer.byteLength }',
  )
  const body = all.subarray(all.indexOf('return'))
  expect(await consume(handler, [messageOf({ body })])).toEqual({
    status: 'retry',
    error: String(body.length),
  })
  // And the message that was handed in is as it was.
  expect(body.toString()).toMatch(/^return /)
})

test('what the module prints goes to stderr', async () => {
  await say('console.log("a line"); console.error("a complaint"); process.stdout.write("raw\\n")')
  await expect.poll(() => stderr.text().split('\n').toSorted().join(' ')).toBe(' a complaint a line raw')
})

test('the main thread goes on while the module computes', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 10)
  await say('const end = Date.now() + 400; while (Date.now() < end);')
  clearInterval(timer)
  // 40 would fit; a main thread that waits has none.
  expect(turns).toBeGreaterThan(5)
})

test('a listener that is no promise counts as well', async () => {
  const source =
    'export default (message) => { if (message.text() === "throw") throw new Error("at once"); return "dead-letter" }'
  const { handler: plain } = openModule(folder, source, { name: 'plain.mjs' })
  expect(await consume(plain, [tell('')])).toEqual({ status: 'dead-letter' })
  expect(await consume(plain, [tell('throw')])).toEqual({ status: 'retry', error: 'at once' })
  await plain.close()
})
