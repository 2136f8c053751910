import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ModuleHandler } from '../../../src/core/handlers/module-handler.ts'
import {
  type Collected,
  collect,
  consume,
  contextOf,
  makeFolder,
  messageOf,
  textOf,
  until,
} from './fixture.ts'
import { type ModuleOptions, OBEDIENT, openModule } from './module-fixture.ts'

let folder: ReturnType<typeof makeFolder>
let stderr: Collected
let handler: ModuleHandler
let offset = 0

const open = (source: string, options: ModuleOptions = {}) => {
  const opened = openModule(folder, source, { onStderr: stderr.push, ...options })
  handler = opened.handler
  return opened.file
}
const say = (text: string, context = contextOf()) =>
  consume(handler, [messageOf({ queueOffset: ++offset, text })], context)

beforeEach(() => {
  folder = makeFolder()
  stderr = collect()
})
afterEach(async () => {
  await handler.close()
  folder.remove()
})

describe('a thread that ends', () => {
  const restart = { backoffMs: 20, backoffMaxMs: 100 }

  test('fails what it had, and is followed by another one', async () => {
    open(OBEDIENT, { restart })
    await handler.open()
    const ends = [
      ['process.exit(3)', 'exit 3'],
      ['process.exit(0)', 'exit 0'],
      [
        'setImmediate(() => { throw new Error("nobody caught it") }); await new Promise(() => {})',
        'nobody caught it',
      ],
      ['Promise.reject(new Error("unheard")); await new Promise(() => {})', 'unheard'],
    ] as const
    for (const [work, how] of ends) {
      expect(await say('')).toEqual({ status: 'success' })
      const other = say('await new Promise(() => {})')
      const result = { status: 'retry', error: `handler ended: ${how}` }
      expect(await say(work)).toEqual(result)
      expect(await other).toEqual(result)
    }
    expect(await say('')).toEqual({ status: 'success' })
  })

  test('has not begun what waited behind a call that kept the thread', async () => {
    open(OBEDIENT, { restart })
    await handler.open()
    const killer = say('const end = Date.now() + 200; while (Date.now() < end); process.exit(1)')
    const behind = say('')
    expect(await killer).toEqual({ status: 'retry', error: 'handler ended: exit 1' })
    expect(await behind).toEqual({ status: 'success' })
  })

  test('because of a message does not end the consumer, however often', async () => {
    open(OBEDIENT, { restart })
    for (let i = 0; i < 6; i++) expect(await say('process.exit(9)')).toMatchObject({ status: 'retry' })
    expect(await say('')).toEqual({ status: 'success' })
  })

  test('before it took a message, again and again, is HANDLER_FAILED', async () => {
    open(
      `import { appendFileSync } from 'node:fs'
      appendFileSync(${JSON.stringify(folder.file('starts'))}, '.')
      setTimeout(() => { throw new Error('no connection') })
      export default () => new Promise(() => {})
      await new Promise((resolve) => setTimeout(resolve, 50))`,
      { restart },
    )
    await expect(handler.open()).rejects.toMatchObject({
      code: 'HANDLER_FAILED',
      message: expect.stringContaining('ended 5 times before it took a message'),
      why: 'no connection',
    })
    expect(textOf(folder.file('starts'))).toBe('.....')
  })
})

describe('a stop', () => {
  const ENDED_BY_STOP = { status: 'retry', error: 'ended by the stop' }

  test('is told to the listener, whose answer counts when it comes in time', async () => {
    open(OBEDIENT, { killGraceMs: 10_000 })
    const context = contextOf()
    const abort = 'await new Promise((resolve) => context.signal.addEventListener("abort", resolve))'
    const result = say(`console.log('begun'); ${abort}; return 'dead-letter'`, context)
    await until(() => stderr.text() === 'begun\n', 'the start')
    context.stop.abort()
    expect(await result).toEqual({ status: 'dead-letter' })
  })

  test.each([
    ['that never answers', 'await new Promise(() => {})'],
    ['that computes for ever', 'for (;;);'],
  ])('ends a listener %s after the grace', async (_what, work) => {
    const mark = folder.file('mark')
    open(OBEDIENT)
    const context = contextOf()
    const begun = `(await import('node:fs')).writeFileSync(${JSON.stringify(mark)}, 'x')`
    const result = say(`${begun}; ${work}`, context)
    await until(() => textOf(mark) === 'x', 'the start')
    context.stop.abort()
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(await say('', context)).toEqual(ENDED_BY_STOP)
    // Other consumers of the handler get a new thread.
    expect(await say('')).toEqual({ status: 'success' })
  })

  test('by close ends the thread, and no further call begins', async () => {
    open(OBEDIENT)
    const result = say('await new Promise(() => {})')
    await handler.open()
    await handler.close()
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(await say('')).toEqual(ENDED_BY_STOP)
  })

  test('while the module is still loading ends that', async () => {
    open('setInterval(() => {}, 1000)\nawait new Promise(() => {})')
    const context = contextOf()
    const result = say('', context)
    await new Promise((resolve) => setTimeout(resolve, 100))
    context.stop.abort()
    expect(await result).toEqual(ENDED_BY_STOP)
  })
})
