import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ExecHandler } from '../../../src/core/handlers/exec-handler.ts'
import { isGroupRunning } from '../../../src/core/process-table.ts'
import { consume, contextOf, makeFolder, messageOf, textOf, until } from './fixture.ts'

const MANY = 20

let folder: ReturnType<typeof makeFolder>
const tmpdir = process.env.TMPDIR
beforeEach(() => {
  folder = makeFolder()
  process.env.TMPDIR = folder.path
})
afterEach(() => {
  if (tmpdir === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = tmpdir
  folder.remove()
})

const tell = (index: number) => messageOf({ queueOffset: index, text: `body ${index}` })
const indexes = Array.from({ length: MANY }, (_, index) => index)
/** Private files that were laid out and not tidied up. */
const leftFiles = () => readdirSync(folder.path).filter((name) => name.startsWith('rmq-'))

describe('many commands at once', () => {
  test('each have their own message, on stdin and in the environment', async () => {
    const log = folder.file('log')
    const command = `read -r body; sleep 0.2; echo "$body $RMQ_QUEUE_OFFSET $RMQ_MSG_ID" >> ${log}; exit $((RMQ_QUEUE_OFFSET % 2))`
    const handler = new ExecHandler({ command })
    const results = await Promise.all(indexes.map((index) => consume(handler, [tell(index)])))
    expect(results).toEqual(
      indexes.map((index) =>
        index % 2 === 0 ? { status: 'success' } : { status: 'retry', error: 'exit 1' },
      ),
    )
    const seen = textOf(log).trimEnd().split('\n').toSorted()
    const { length } = messageOf().msgId
    const id = (index: number) => index.toString(16).toUpperCase().padStart(length, '0')
    expect(seen).toEqual(indexes.map((index) => `body ${index} ${index} ${id(index)}`).toSorted())
    expect(leftFiles()).toEqual([])
  })

  test('are each recorded before they begin, one that may not never does', async () => {
    const log = folder.file('log')
    const handler = new ExecHandler({ command: `echo $RMQ_QUEUE_OFFSET >> ${log}` })
    const begunEarly: number[] = []
    const contexts = indexes.map((index) =>
      contextOf(async () => {
        await new Promise((resolve) => setTimeout(resolve, index))
        if (textOf(log).split('\n').includes(String(index))) begunEarly.push(index)
        return index !== 7
      }),
    )
    const results = await Promise.all(
      indexes.map((index) => consume(handler, [tell(index)], contexts[index])),
    )
    expect(begunEarly).toEqual([])
    expect(results.filter(({ status }) => status === 'success')).toHaveLength(MANY - 1)
    expect(results[7]).toMatchObject({ status: 'retry', error: expect.stringContaining('lock was lost') })
    const pids = contexts.flatMap(({ recorded }) => recorded.map(({ pid }) => pid))
    expect(new Set(pids).size).toBe(MANY)
    expect(
      textOf(log)
        .trimEnd()
        .split('\n')
        .map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual(indexes.filter((index) => index !== 7))
    expect(leftFiles()).toEqual([])
  })

  test('are all ended by one stop, without a warning of a leak', async () => {
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    const context = contextOf()
    const handler = new ExecHandler({ command: 'sleep 60', killGraceMs: 500 })
    const results = indexes.map((index) => consume(handler, [tell(index)], context))
    await until(() => context.recorded.length === MANY, 'the starts')
    context.stop.abort()
    expect(new Set(await Promise.all(results))).toEqual(
      new Set([{ status: 'retry', error: 'ended by the stop' }]),
    )
    expect(context.recorded.filter(({ pid }) => isGroupRunning(pid))).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, 10))
    process.off('warning', warn)
    expect(warnings).toEqual([])
    expect(leftFiles()).toEqual([])
  })
})
