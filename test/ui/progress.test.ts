import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Progress } from '../../src/ui/progress.ts'
import { formatCount, formatElapsed, formatPlural } from '../../src/ui/quantities.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function progress(
  change: { isTTY?: boolean; wanted?: boolean; env?: Record<string, string>; text?: string } = {},
) {
  const { isTTY = true, wanted = true, env = {}, text = 'sent 5' } = change
  const writes: string[] = []
  const stream = { isTTY, columns: 40, write: (chunk: string) => void writes.push(chunk) }
  return { writes, line: new Progress({ stream, env, wanted, text: () => text }) }
}

describe('Progress', () => {
  it('writes over its line at most ten times a second and takes it away at the end', () => {
    const { writes, line } = progress()
    vi.advanceTimersByTime(1000)
    expect(writes).toHaveLength(10)
    expect(new Set(writes)).toEqual(new Set(['\r\u001b[Ksent 5']))
    line[Symbol.dispose]()
    expect(writes.at(-1)).toBe('\r\u001b[K')
    vi.advanceTimersByTime(1000)
    expect(writes).toHaveLength(11)
  })

  it('leaves no trace of what was over at once', () => {
    const { writes, line } = progress()
    vi.advanceTimersByTime(50)
    line[Symbol.dispose]()
    expect(writes).toEqual([])
  })

  it('fits on one line', () => {
    const { writes } = progress({ text: 'x'.repeat(100) })
    vi.advanceTimersByTime(100)
    expect(writes).toEqual([`\r\u001b[K${'x'.repeat(39)}`])
  })

  it.each([
    ['in a pipe', { isTTY: false }],
    ['when it is not wanted', { wanted: false }],
    ['on a dumb terminal', { env: { TERM: 'dumb' } }],
    ['in CI', { env: { CI: 'true' } }],
  ])('is silent %s', (_where, change) => {
    const { writes, line } = progress(change)
    vi.advanceTimersByTime(1000)
    line[Symbol.dispose]()
    expect(writes).toEqual([])
  })
})

describe('quantities', () => {
  it('are written for people', () => {
    expect([0, 999, 1000, 1234567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567'])
    expect([formatPlural(1, 'message'), formatPlural(0, 'message')]).toEqual(['1 message', '0 messages'])
    expect([0, 850, 999.6, 1234, 9990, 59_400, 59_600, 200_000].map(formatElapsed)).toEqual([
      '0 ms',
      '850 ms',
      '1.0 s',
      '1.2 s',
      '10 s',
      '59 s',
      '1 min 0 s',
      '3 min 20 s',
    ])
  })
})
