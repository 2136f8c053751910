import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { rmq } from '../helpers/rmq.ts'
import { tempFolder } from '../helpers/temp.ts'

describe('rmq bench consume, in another way', () => {
  const small = ['bench', 'consume', '--messages', '400', '--durability', 'normal', '--json']

  it.each([
    [['--mode', 'concurrent'], { mode: 'concurrent' }],
    [['--mode', 'concurrent', '--batch', '8'], { mode: 'concurrent', batch: 8 }],
    [['--per-key', '4'], { mode: 'orderly', perKey: 4 }],
    [['--tag-every', '50'], { mode: 'orderly', tagEvery: 50 }],
    [['--pipe', '--batch', '32'], { mode: 'orderly', batch: 32, handler: 'pipe' }],
    [['--mode', 'concurrent', '--consumers', '2'], { mode: 'concurrent' }],
  ])('%j', async (flags, settings) => {
    const { status, stdout, stderr } = await rmq([...small, ...flags])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const { bench } = JSON.parse(stdout)
    expect(bench.settings).toMatchObject({ messages: 400, ...settings })
    for (const name of ['rate', 'raw', 'ratio']) expect(bench.metrics[name]).toBeGreaterThan(0)
  })

  it('waits over each message with --work, in the bare side one after the other', async () => {
    const args = ['bench', 'consume', '--messages', '20', '--queues', '1', '--work', '10ms', '--json']
    const { bench } = JSON.parse((await rmq([...args, '--durability', 'normal'])).stdout)
    expect(bench.settings).toMatchObject({ messages: 20, workMs: 10 })
    // Neither can be faster: in a queue one message waits for another.
    expect(bench.metrics.raw).toBeLessThanOrEqual(110)
    expect(bench.metrics.rate).toBeLessThanOrEqual(125)
  })

  it('names the work in a pipe', async () => {
    const args = ['bench', 'consume', '--messages', '100', '--mode', 'concurrent', '--pipe', '--batch', '4']
    const { stdout } = await rmq([...args, '--durability', 'normal'])
    expect(stdout).toMatch(/^concurrent, 20 at once, batches of 4, piped\t\d+(\t[\d.]+){2}\n$/)
  })

  it.each([
    ['--per-key needs --mode orderly', ['--mode', 'concurrent', '--per-key', '4']],
    ['--work', ['--pipe', '--work', '5ms']],
    ['--tag-every', ['--pipe', '--tag-every', '5']],
    ['--batch', ['--batch', '0']],
  ])('%s: a usage error for %j', async (text, flags) => {
    const { status, stdout, stderr } = await rmq(['bench', 'consume', ...flags])
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(text)
  })
})

describe('rmq bench backlog', () => {
  it('measures a slow consumer, and a producer beside it when it is frozen', async () => {
    const folder = tempFolder()
    const args = ['bench', 'backlog', '--messages', '2000', '--for', '300ms', '--batch', '50', '--json']
    const result = await rmq([...args, '--durability', 'normal', '--assert', 'memory>1'], {
      env: { TMPDIR: folder },
    })
    expect(result).toMatchObject({ status: 0, stderr: '' })
    const { metrics, settings, kind } = JSON.parse(result.stdout).bench
    expect(kind).toBe('backlog')
    expect(settings).toMatchObject({ messages: 2000, mode: 'concurrent', workMs: 5, forMs: 300 })
    // The most memory of a process never falls.
    expect(metrics.memory).toBeGreaterThanOrEqual(metrics['raw.memory'])
    for (const name of ['raw.memory', 'rate', 'raw', 'ratio']) expect(metrics[name]).toBeGreaterThan(0)
    expect(readdirSync(folder)).toEqual([])
  })

  it('prints a line for the memory and one for the producer', async () => {
    const args = ['bench', 'backlog', '--messages', '200', '--for', '100ms', '--durability', 'normal']
    const { stdout } = await rmq(args)
    expect(stdout).toMatch(
      /^memory[^\t]*(\t[\d.]+){2}\tMB\t[\d.]+\nsending[^\t]*\t\d+\t\d+\tmsg\/s\t[\d.]+\n$/,
    )
  })
})
