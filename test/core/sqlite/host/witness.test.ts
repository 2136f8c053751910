import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import type { ProcessIdentity } from '../../../../src/core/model/lock.ts'
import { isProcessRunning, parseStat, readProcess, startTimeOf } from '../../../../src/core/process-table.ts'
import { systemHost } from '../../../../src/core/sqlite/host/system-host.ts'
import { systemRuntime } from '../../../../src/core/system-runtime.ts'
import { until } from './fixture.ts'

const { process: me, liveness } = systemHost('/nowhere/a.db', systemRuntime)
const groups: number[] = []

afterEach(() => {
  for (const pid of groups.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
})

/** A shell that leads a process group, and the first line it prints. */
async function start(script: string): Promise<{ child: ChildProcess; pid: number; line: string }> {
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const pid = child.pid ?? 0
  groups.push(pid)
  const [data] = await once(child.stdout, 'data')
  return { child, pid, line: String(data).trim() }
}

const identityOf = (pid: number): ProcessIdentity => ({ ...me, pid, startTime: startTimeOf(pid) })

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('witness', () => {
  test('sees itself, and knows its boot and its namespace', () => {
    expect(me.pid).toBe(process.pid)
    expect(me.bootId).toMatch(/^[0-9a-f-]{36}$/)
    expect(me.pidNamespace).toMatch(/^pid:\[\d+\]$/)
    expect(liveness.witness(me)).toBe('runs')
  })

  test('says runs while a process runs and gone after it ended', async () => {
    const { child, pid } = await start('echo up; exec sleep 60')
    const identity = identityOf(pid)
    expect(liveness.witness(identity)).toBe('runs')
    await end(child)
    expect(liveness.witness(identity)).toBe('gone')
  })

  test('is not taken in by a pid that was used again', () => {
    expect(liveness.witness({ ...me, startTime: '1' })).toBe('gone')
  })

  test('cannot tell across boots and namespaces', () => {
    expect(liveness.witness({ ...me, bootId: 'another' })).toBe('unseen')
    expect(liveness.witness({ ...me, pidNamespace: 'pid:[1]' })).toBe('unseen')
  })

  test('takes a zombie for gone', async () => {
    const zombie = await start(ZOMBIE_SCRIPT)
    const pid = Number(zombie.line)
    await until(() => readProcess(pid)?.state === 'Z', 'the zombie')
    expect(liveness.witness(identityOf(pid))).toBe('gone')
  })
})

/** Prints the pid of a child with a group of its own that soon ends, and that nobody waits for. */
const ZOMBIE_SCRIPT = 'setsid sleep 0.1 >/dev/null & echo $!; exec sleep 60'

describe('handlerRuns', () => {
  const handlerOf = (pid: number) => ({ pid, startTime: startTimeOf(pid) })

  test('follows the leader of the group', async () => {
    const { child, pid } = await start('echo up; exec sleep 60')
    const handler = handlerOf(pid)
    expect(liveness.handlerRuns(me, handler)).toBe(true)
    await end(child)
    expect(liveness.handlerRuns(me, handler)).toBe(false)
  })

  test('sees what the leader left behind', async () => {
    const { child, pid, line } = await start('sleep 60 >/dev/null & echo $!; wait')
    const handler = handlerOf(pid)
    await end(child)
    expect(liveness.handlerRuns(me, handler)).toBe(true)
    process.kill(Number(line), 'SIGKILL')
    await until(() => !liveness.handlerRuns(me, handler), 'the end of the group')
  })

  test('takes a group of zombies for gone', async () => {
    const zombie = await start(ZOMBIE_SCRIPT)
    const pid = Number(zombie.line)
    await until(() => readProcess(pid)?.state === 'Z', 'the zombie')
    expect(liveness.handlerRuns(me, handlerOf(pid))).toBe(false)
  })

  test('proves nothing about a process that it cannot see, or whose pid was used again', async () => {
    const { pid } = await start('echo up; exec sleep 60')
    const handler = handlerOf(pid)
    expect(liveness.handlerRuns({ ...me, bootId: 'another' }, handler)).toBe(false)
    expect(liveness.handlerRuns({ ...me, pidNamespace: 'pid:[1]' }, handler)).toBe(false)
    expect(liveness.handlerRuns(me, { ...handler, startTime: '1' })).toBe(false)
  })
})

describe('the process table', () => {
  test('finds the fields behind a name that looks like fields', () => {
    const fields = ['S', '10', '77', ...Array.from({ length: 16 }, () => '0'), '4711', '0']
    expect(parseStat(`12 (a) Z 1 (b) ${fields.join(' ')}\n`)).toEqual({
      state: 'S',
      processGroup: 77,
      startTime: '4711',
    })
    expect(parseStat('')).toBeUndefined()
  })

  test('counts what it cannot disprove as running', () => {
    expect(isProcessRunning(process.pid, '')).toBe(true)
    expect(isProcessRunning(process.pid, startTimeOf())).toBe(true)
  })
})
