import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PipeHandler, type PipeHandlerOptions } from '../../../src/core/handlers/pipe-handler.ts'
import { isGroupRunning } from '../../../src/core/process-table.ts'
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

const CHILD = `'${process.execPath}' '${fileURLToPath(new URL('pipe-child.mjs', import.meta.url))}'`
const ENDED_BY_STOP = { status: 'retry', error: 'ended by the stop' }

let folder: ReturnType<typeof makeFolder>
let stderr: Collected
let handler: PipeHandler
let offset = 0

function open(options: Partial<PipeHandlerOptions> = {}): PipeHandler {
  const restart = { backoffMs: 20, backoffMaxMs: 100 }
  handler = new PipeHandler({
    command: `exec ${CHILD}`,
    onStderr: stderr.push,
    killGraceMs: 200,
    restart,
    ...options,
  })
  return handler
}

const tell = (text: string) => messageOf({ queueOffset: ++offset, text })
const say = (text: string, context = contextOf()) => consume(handler, [tell(text)], context)

/** Shell text that takes one message when it runs for the first time, and nothing later. */
const worksOnce = () => `[ -e ${folder.file('ran')} ] || { echo > ${folder.file('ran')}; read record; }`

beforeEach(() => {
  folder = makeFolder()
  stderr = collect()
  open()
})
afterEach(async () => {
  await handler.close()
  folder.remove()
})

describe('a child that ends', () => {
  test.each([
    ['exit 1', 'handler ended: exit 1'],
    ['exit 0', 'handler ended: exit 0'],
    ['kill SIGKILL', 'handler ended: signal SIGKILL'],
    ['die out of memory', 'handler ended: exit 3: out of memory'],
  ])('by %s fails what it had', async (text, error) => {
    const other = say('silent')
    expect(await say(text)).toEqual({ status: 'retry', error })
    expect(await other).toEqual({ status: 'retry', error })
  })

  test('is followed by another one', async () => {
    const first = contextOf()
    const second = contextOf()
    await say('exit 1', first)
    expect(await say('status success', second)).toEqual({ status: 'success' })
    expect(second.recorded.at(-1)?.pid).not.toBe(first.recorded.at(-1)?.pid)
  })

  test('has answered what it wrote before', async () => {
    const context = contextOf()
    expect(await say('last', context)).toEqual({ status: 'success' })
    await until(() => !isGroupRunning(context.recorded[0]?.pid ?? 0), 'its end')
    expect(await say('last')).toEqual({ status: 'success' })
  })

  test('because of a message does not end the consumer, however often', async () => {
    for (let i = 0; i < 8; i++) expect(await say('exit 9')).toMatchObject({ status: 'retry' })
    expect(await say('status success')).toEqual({ status: 'success' })
  })

  test('takes what it left behind with it', async () => {
    const context = contextOf()
    open({ command: `sleep 60 & exec ${CHILD}` })
    await say('exit 1', context)
    expect(isGroupRunning(context.recorded[0]?.pid ?? 0)).toBe(false)
  })

  test('that closes its stdout can answer nothing more, and is ended', async () => {
    open({ command: 'read record; exec >&-; sleep 60' })
    expect(await say('')).toEqual({ status: 'retry', error: 'handler ended: signal SIGTERM' })
  })

  test('with an error of more than 2 KiB keeps the end of it', async () => {
    const { error = '' } = await say(`die ${'x'.repeat(5000)} the end`)
    expect(error).toMatch(/^handler ended: exit 3: x+ the end$/)
    expect(error).toHaveLength(2048)
  })
})

describe('a command that cannot work', () => {
  test('is HANDLER_NOT_FOUND when the shell cannot run it', async () => {
    open({ command: 'no-such-program' })
    await expect(say('')).rejects.toMatchObject({
      code: 'HANDLER_NOT_FOUND',
      message: expect.stringContaining('(exit 127): no-such-program'),
      why: expect.stringContaining('no-such-program'),
    })
    // A run that has to prove itself first says the same.
    await expect(say('')).rejects.toMatchObject({ code: 'HANDLER_NOT_FOUND' })
  })

  test('is HANDLER_FAILED when it ends at once again and again, and charges one try at most', async () => {
    open({ command: `echo >> ${folder.file('starts')}; ${worksOnce()}; echo no config >&2; exit 2` })
    expect(await say('')).toEqual({ status: 'retry', error: 'handler ended: exit 2: no config' })
    await expect(say('')).rejects.toMatchObject({
      code: 'HANDLER_FAILED',
      message: expect.stringContaining('ended 5 times before it took a message'),
      why: 'exit 2: no config',
      details: { starts: 5, exitCode: 2 },
    })
    expect(textOf(folder.file('starts'))).toHaveLength(6)
  })

  test('tells all who wait for it', async () => {
    open({ command: 'no-such-program' })
    const waiting = [say(''), say(''), say('')]
    for (const outcome of await Promise.allSettled(waiting)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'HANDLER_NOT_FOUND' } })
    }
  })
})

describe('an end from outside', () => {
  test('by close lets it finish: it sees the end of its input', async () => {
    open({ command: `cat > /dev/null; echo finished > ${folder.file('mark')}` })
    const context = contextOf()
    const result = say('', context)
    await until(() => context.recorded.length > 0, 'the start')
    await handler.close()
    expect(textOf(folder.file('mark'))).toBe('finished\n')
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(await say('')).toEqual(ENDED_BY_STOP)
  })

  test('takes answers that come in time', async () => {
    open({ command: `exec ${CHILD}`, killGraceMs: 2_000 })
    await say('status success')
    const message = tell('status success')
    const result = consume(handler, [message])
    await new Promise((resolve) => setTimeout(resolve, 50))
    await handler.close()
    expect(await result).toEqual({ status: 'success' })
  })

  test('by a stop ends a whole group that ignores the end of its input and TERM', async () => {
    const context = contextOf()
    open({ command: `trap '' TERM; sleep 60 & echo ready >&2; while :; do sleep 1; done` })
    const result = say('', context)
    await until(() => stderr.text() === 'ready\n' && context.recorded.length > 0, 'the start')
    context.stop.abort()
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(isGroupRunning(context.recorded[0]?.pid ?? 0)).toBe(false)
  })

  test('by the stop of one consumer leaves the handler usable', async () => {
    const context = contextOf()
    const result = say('silent', context)
    await until(() => context.recorded.length > 0, 'the start')
    context.stop.abort()
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(await say('status success')).toEqual({ status: 'success' })
  })

  test('reaches every message that shares the signal, without a warning of a leak', async () => {
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    const context = contextOf()
    const results = Array.from({ length: 30 }, () => say('silent', context))
    await until(() => context.recorded.length === 30, 'the starts')
    context.stop.abort()
    expect(new Set(await Promise.all(results))).toEqual(new Set([ENDED_BY_STOP]))
    await new Promise((resolve) => setTimeout(resolve, 10))
    process.off('warning', warn)
    expect(warnings).toEqual([])
  })

  test('while it starts again and again does not wait for the back-off', async () => {
    open({ command: `${worksOnce()}; exit 2`, restart: { backoffMs: 60_000, backoffMaxMs: 60_000 } })
    expect(await say('')).toEqual({ status: 'retry', error: 'handler ended: exit 2' })
    const waiting = say('')
    await new Promise((resolve) => setTimeout(resolve, 30))
    await handler.close()
    expect(await waiting).toEqual(ENDED_BY_STOP)
  })

  test('is not needed when nothing was started', async () => {
    await handler.close()
    const late = contextOf()
    late.stop.abort()
    expect(await say('', late)).toEqual(ENDED_BY_STOP)
    expect(late.recorded).toEqual([])
  })
})
