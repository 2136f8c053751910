import { describe, expect, it } from 'vitest'
import { RmqError } from '../../src/core/index.ts'
import { ReaderGone } from '../../src/ui/output.ts'
import { reportError, wantsJson } from '../../src/ui/report-error.ts'
import type { Env } from '../../src/ui/terminal.ts'
import { recorder } from '../helpers/recorder.ts'

function report(error: unknown, { argv = [] as string[], env = {} as Env, isTTY = false } = {}) {
  const stdout = recorder()
  const stderr = recorder({ isTTY })
  const exitCode = reportError(error, argv, { stdout, stderr, env })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

const HELD = new RmqError('LOCK_HELD', '2 locks were kept', {
  why: 'held by c1',
  hint: 'add --force',
  details: { kept: 2 },
})

describe('reportError', () => {
  it('tells what, why and what next on stderr', () => {
    expect(report(HELD)).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: 'rmq: 2 locks were kept [LOCK_HELD]\n  why:  held by c1\n  hint: add --force\n',
    })
  })

  it('tells the same as JSON on stdout, with the same exit code', () => {
    const { exitCode, stdout, stderr } = report(HELD, { argv: ['locks', 'release', '--json'] })
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'LOCK_HELD',
        message: '2 locks were kept',
        why: 'held by c1',
        hint: 'add --force',
        details: { kept: 2 },
        exitCode: 4,
      },
    })
  })

  it.each([
    ['a terminal', {}, true, true],
    ['a pipe', {}, false, false],
    ['NO_COLOR', { NO_COLOR: '1' }, true, false],
  ])('paints for %s', (_, env, isTTY, painted) => {
    expect(report(HELD, { env, isTTY }).stderr.includes('\u001b[31m')).toBe(painted)
  })

  it('shows control characters of a name, and does not obey them', () => {
    const { stderr } = report(new RmqError('INVALID_NAME', 'topic \u001b[2J is no name'))
    expect(stderr).toBe('rmq: topic \\e[2J is no name [INVALID_NAME]\n')
  })

  it('calls what nobody foresaw a bug, and has the stack on demand', () => {
    const bug = new TypeError('x is not a function')
    const { exitCode, stderr } = report(bug)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('this is a bug of rmq')
    expect(stderr).not.toContain('    at ')
    expect(report(bug, { env: { RMQ_LOG: 'debug' } }).stderr).toContain('report-error.test.ts')
  })

  it('takes an error of the system for what it is', () => {
    const error = Object.assign(new Error('ENOENT: no such file, open x'), {
      code: 'ENOENT',
      syscall: 'open',
    })
    const { exitCode, stderr } = report(error)
    expect(exitCode).toBe(1)
    expect(stderr).toBe('rmq: ENOENT: no such file, open x [IO_ERROR]\n')
  })

  it.each([
    ['the reader went away', new ReaderGone('gone')],
    ['a broken pipe', Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' })],
  ])('says nothing when %s', (_, error) => {
    expect(report(error, { argv: ['--json'] })).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })
})

describe('wantsJson', () => {
  it.each([
    [['send', '--json'], true],
    [['send', '--', '--json'], false],
    [['send'], false],
  ])('%j: %s', (argv, expected) => {
    expect(wantsJson(argv)).toBe(expected)
  })
})
