import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ExecHandler } from '../../../src/core/handlers/exec-handler.ts'
import { isGroupRunning } from '../../../src/core/process-table.ts'
import { consume, contextOf, makeFolder, textOf, until } from './fixture.ts'

const ENDED_BY_STOP = { status: 'retry', error: 'ended by the stop' }
const PARENT = fileURLToPath(new URL('exec-parent.ts', import.meta.url))

let folder: ReturnType<typeof makeFolder>
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => folder.remove())

describe('before the command begins', () => {
  test('its process is recorded, and nothing of it has happened yet', async () => {
    const mark = folder.file('mark')
    let seen: string | undefined
    const context = contextOf(async ({ pid }) => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      seen = textOf(mark)
      return isGroupRunning(pid)
    })
    const handler = new ExecHandler({ command: `echo ran > ${mark}` })
    expect(await consume(handler, undefined, context)).toEqual({ status: 'success' })
    expect(seen).toBe('')
    expect(textOf(mark)).toBe('ran\n')
  })

  test('a lost lock keeps it from running', async () => {
    const context = contextOf(() => false)
    const handler = new ExecHandler({ command: `echo ran > ${folder.file('mark')}` })
    expect(await consume(handler, undefined, context)).toMatchObject({ status: 'retry' })
    expect(textOf(folder.file('mark'))).toBe('')
    expect(isGroupRunning(context.recorded[0]?.pid ?? 0)).toBe(false)
  })

  test('a failure to record keeps it from running and is passed on', async () => {
    const context = contextOf(() => Promise.reject(new Error('the disk is full')))
    const handler = new ExecHandler({ command: `echo ran > ${folder.file('mark')}` })
    await expect(consume(handler, undefined, context)).rejects.toThrow('the disk is full')
    expect(textOf(folder.file('mark'))).toBe('')
    expect(isGroupRunning(context.recorded[0]?.pid ?? 0)).toBe(false)
  })

  test('a parent that is killed before it said go leaves no run', async () => {
    const mark = folder.file('mark')
    const args = ['--import', 'tsx', PARENT, `echo ran > ${mark}`, 'never']
    const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(String((await once(parent.stdout, 'data'))[0]))
    expect(isGroupRunning(pid)).toBe(true)

    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await until(() => !isGroupRunning(pid), 'the end of the waiting shell')
    expect(textOf(mark)).toBe('')
  })

  test('a parent that is killed after it said go leaves a whole body to a run that goes on', async () => {
    const copy = folder.file('copy')
    const args = ['--import', 'tsx', PARENT, `sleep 0.3; cat > ${copy}; echo . >> ${copy}`, 'soon']
    const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(String((await once(parent.stdout, 'data'))[0]))
    await once(parent.stdout, 'data')

    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await until(() => textOf(copy).endsWith('.\n'), 'the end of the run')
    expect(textOf(copy)).toBe('hello.\n')
    await until(() => !isGroupRunning(pid), 'the end of the group')
  })
})

describe('a stop', () => {
  test('ends the command and all of its descendants', async () => {
    const started = folder.file('started')
    const context = contextOf()
    const command = `sh -c 'sleep 60 & sleep 60' & echo > ${started}; wait`
    const result = consume(new ExecHandler({ command }), undefined, context)
    await until(() => textOf(started) !== '', 'the start')

    context.stop.abort()
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(isGroupRunning(context.recorded[0]?.pid ?? 0)).toBe(false)
  })

  test('kills what does not care about TERM', async () => {
    const started = folder.file('started')
    const context = contextOf()
    const command = `trap '' TERM; (sleep 60) & echo > ${started}; sleep 60; sleep 60`
    const result = consume(new ExecHandler({ command, killGraceMs: 100 }), undefined, context)
    await until(() => textOf(started) !== '', 'the start')

    context.stop.abort()
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(isGroupRunning(context.recorded[0]?.pid ?? 0)).toBe(false)
  })

  test('leaves time to a command that tidies up, whose exit then says nothing', async () => {
    const started = folder.file('started')
    const tidy = folder.file('tidy')
    const context = contextOf()
    const command = `trap 'echo tidy > ${tidy}; exit 0' TERM; echo > ${started}; while :; do sleep 0.01; done`
    const result = consume(new ExecHandler({ command }), undefined, context)
    await until(() => textOf(started) !== '', 'the start')

    context.stop.abort()
    expect(await result).toEqual(ENDED_BY_STOP)
    expect(textOf(tidy)).toBe('tidy\n')
  })

  test('that came first starts nothing; one that comes while it is recorded lets nothing run', async () => {
    const mark = folder.file('mark')
    const handler = new ExecHandler({ command: `echo ran > ${mark}` })
    const late = contextOf()
    late.stop.abort()
    expect(await consume(handler, undefined, late)).toEqual(ENDED_BY_STOP)
    expect(late.recorded).toEqual([])

    const meanwhile = contextOf(() => {
      meanwhile.stop.abort()
      return true
    })
    expect(await consume(handler, undefined, meanwhile)).toEqual(ENDED_BY_STOP)
    expect(textOf(mark)).toBe('')
  })

  test('by close ends every run, and no further one begins', async () => {
    const handler = new ExecHandler({ command: 'sleep 60' })
    const contexts = [contextOf(), contextOf()]
    const results = contexts.map((context) => consume(handler, undefined, context))
    await until(() => contexts.every((context) => context.recorded.length === 1), 'both starts')

    await handler.close()
    expect(await Promise.all(results)).toEqual([ENDED_BY_STOP, ENDED_BY_STOP])
    expect(await consume(handler)).toEqual(ENDED_BY_STOP)
  })
})
