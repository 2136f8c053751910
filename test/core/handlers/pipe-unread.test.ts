import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PipeHandler, type PipeHandlerOptions } from '../../../src/core/handlers/pipe-handler.ts'
import { consume, makeFolder, messageOf, textOf, until } from './fixture.ts'

const CHILD = `'${process.execPath}' '${fileURLToPath(new URL('pipe-child.mjs', import.meta.url))}'`
/** sh reads from a pipe byte by byte, so it has read what it was told to read and nothing else. */
const ANSWER = `id=$(echo "$line" | sed 's/^{"msgId":"\\([0-9A-F]*\\)".*/\\1/'); echo "{\\"id\\":\\"$id\\",\\"status\\":\\"success\\"}"`

const answerAll = `while read -r line; do ${ANSWER}; done`

let folder: ReturnType<typeof makeFolder>
let handler: PipeHandler
let offset = 0

function open(command: string, options: Partial<PipeHandlerOptions> = {}): PipeHandler {
  const restart = { backoffMs: 20, backoffMaxMs: 100 }
  handler = new PipeHandler({ command, onStderr: () => {}, killGraceMs: 200, restart, ...options })
  return handler
}

const tell = (text = '') => messageOf({ queueOffset: ++offset, text })
const say = (text?: string) => consume(handler, [tell(text)])
/** Shell text that notes its argument. */
const note = (text: string) => `echo ${text} >> '${folder.file('log')}'`
/** Shell text: true in the run that wrote the first line of the log. */
const isFirstRun = () => `[ $(wc -l < '${folder.file('log')}') = 1 ]`
const log = () => textOf(folder.file('log')).split('\n').slice(0, -1)

beforeEach(() => {
  folder = makeFolder()
})
afterEach(async () => {
  await handler.close()
  folder.remove()
})

describe('what a child had not read when it ended', () => {
  test('goes to the next one, and no try counts', async () => {
    // Takes two messages, answers both, and ends, whatever waits behind them.
    const two = `for i in 1 2; do read -r line; ${note('$$')}; ${ANSWER}; done`
    open(two)
    const results = await Promise.all(Array.from({ length: 7 }, () => say()))
    expect(results).toEqual(Array.from({ length: 7 }, () => ({ status: 'success' })))
    expect(log()).toHaveLength(7)
    expect(new Set(log()).size).toBe(4)
  })

  test('is the rest of a batch: what was answered is not given again', async () => {
    open(
      `for i in 1 2 3; do read -r line; printf '%s\\n' "$line" >> '${folder.file('log')}'; ${ANSWER}; done`,
    )
    const batch = Array.from({ length: 8 }, () => tell())
    expect(await consume(handler, batch)).toEqual({ status: 'success' })
    expect(log().map((line) => JSON.parse(line).queueOffset)).toEqual(
      batch.map(({ queueOffset }) => queueOffset),
    )
  })

  test('is not charged when it dies of the message before, which is', async () => {
    open(
      `read -r line; case $line in *bad*) kill -9 $$;; esac; ${ANSWER}; while read -r line; do ${ANSWER}; done`,
    )
    const results = await Promise.all([say('bad'), say('good'), say('fine')])
    expect(results).toEqual([
      { status: 'retry', error: 'handler ended: signal SIGKILL' },
      { status: 'success' },
      { status: 'success' },
    ])
  })

  test('is not charged when only a part of it was read, nor is what lies behind it', async () => {
    // Of the second record 40 characters are read after the first one was answered.
    const part = `read -r line; ${ANSWER}; head -c 40 > /dev/null; sleep 0.1; exit 0`
    open(`${note('run')}; if ${isFirstRun()}; then ${part}; fi; ${answerAll}`)
    const success = { status: 'success' }
    expect(await Promise.all([say('x'), say('y')])).toEqual([success, success])
    expect(log()).toEqual(['run', 'run'])
    await handler.close()
    rmSync(folder.file('log'))
    open(`${note('run')}; if ${isFirstRun()}; then ${part}; fi; ${answerAll}`)
    expect(await Promise.all([say('x'), say('y'), say('z')])).toEqual([success, success, success])
    expect(log()).toEqual(['run', 'run'])
  })

  test('is all that does not fit into a pipe', async () => {
    open(
      `${note('run')}; read -r line; ${ANSWER}; [ $(wc -l < '${folder.file('log')}') = 1 ] || while read -r line; do ${ANSWER}; done`,
    )
    const batch = Array.from({ length: 12 }, () => tell('z'.repeat(20_000)))
    expect(await consume(handler, batch)).toEqual({ status: 'success' })
    expect(log()).toEqual(['run', 'run'])
  })

  test('counts where it cannot be known: a child that reads ahead has read it', async () => {
    open(`exec ${CHILD}`)
    const killer = say('exit 0')
    const behind = say('status success')
    const charged = { status: 'retry', error: 'handler ended: exit 0' }
    expect([await killer, await behind]).toEqual([charged, charged])
  })
})

describe('a child that reads nothing', () => {
  test('and ends at once charges nobody, and is HANDLER_FAILED after some starts', async () => {
    open(`${note('start')}; echo no config >&2; exit 2`)
    await expect(say()).rejects.toMatchObject({ code: 'HANDLER_FAILED', why: 'exit 2: no config' })
    expect(log()).toHaveLength(5)
  })

  test('for longer than every back-off, the same', async () => {
    open(`${note('start')}; sleep 0.15; exit 2`, { restart: { startsMax: 3, backoffMs: 1, backoffMaxMs: 2 } })
    await expect(say()).rejects.toMatchObject({ code: 'HANDLER_FAILED', details: { starts: 3 } })
    expect(log()).toHaveLength(3)
  })

  test('because it closed its stdin is followed by one that does', async () => {
    const closes = `read -r line; ${ANSWER}; exec 0<&-; ${note('closed')}; sleep 60`
    open(`${note('run')}; if ${isFirstRun()}; then ${closes}; fi; ${answerAll}`)
    expect(await say()).toEqual({ status: 'success' })
    await until(() => log().includes('closed'), 'the end of its input')
    // Refused at once: nobody reads.
    expect(await Promise.all([say(), say()])).toEqual([{ status: 'success' }, { status: 'success' }])
    expect(log()).toEqual(['run', 'closed', 'run'])
  })
})
