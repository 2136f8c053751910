import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rmq, startRmq } from '../helpers/rmq.ts'
import { withBroker } from '../helpers/store.ts'
import { tempDb, tempFolder } from '../helpers/temp.ts'

/** Temporary folders of the run lie here, where it can be seen whether they are gone. */
const inFolder = (folder: string) => ({ env: { TMPDIR: folder } })

describe('rmq bench send', () => {
  it('compares three ways to send with plain better-sqlite3 and removes what it made', async () => {
    const folder = tempFolder()
    const result = await rmq(['bench', 'send', '--messages', '2000', '--json'], inFolder(folder))
    expect(result).toMatchObject({ status: 0, stderr: '' })
    const { bench } = JSON.parse(result.stdout)
    expect(bench).toMatchObject({ kind: 'send', checks: [] })
    expect(bench.settings).toMatchObject({
      messages: 2000,
      size: 128,
      queues: 8,
      keys: 1000,
      durability: 'full',
    })
    for (const prefix of ['', 'pipelined.', 'single.']) {
      for (const name of ['rate', 'raw', 'ratio']) expect(bench.metrics[prefix + name]).toBeGreaterThan(0)
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('lets processes send against each other and says how fair it was', async () => {
    const args = [
      'bench',
      'send',
      '--messages',
      '500',
      '--producers',
      '2',
      '--durability',
      'normal',
      '--json',
    ]
    const { bench } = JSON.parse((await rmq(args)).stdout)
    expect(bench.settings.producers).toBe(2)
    expect(bench.metrics.fair).toBeGreaterThan(0)
    expect(bench.metrics.fair).toBeLessThanOrEqual(1)
  })

  it('leaves its messages in the file of --db, and never in that of RMQ_DB', async () => {
    const [real, kept] = [tempDb(), tempDb()]
    const args = ['bench', 'send', '--messages', '100', '--batch', '10', '--queues', '2', '--db', kept]
    expect((await rmq(args, { db: real })).status).toBe(0)
    expect(existsSync(real)).toBe(false)
    const leftOver = readdirSync(dirname(kept)).filter((name) => name.startsWith('rmq-bench-'))
    expect(leftOver).toEqual([])
    await withBroker(kept, async (broker) => {
      const [topic] = await broker.listTopics()
      expect(topic?.queues).toBe(2)
      const stats = await broker.queueStats(topic?.topic ?? '')
      // Six rounds of each way to send: 20 messages, 5, and at least one.
      expect(stats.reduce((sum, { maxOffset }) => sum + maxOffset, 0)).toBe(6 * (20 + 5 + 1))
    })
  })
})

describe('rmq bench consume', () => {
  it('prints one line of work and both rates to a pipe', async () => {
    const { status, stdout } = await rmq(['bench', 'consume', '--messages', '1000'])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^orderly[^\t]*\t\d+\t\d+\t[\d.]+\n$/)
  })

  it('shares the queues among several processes', async () => {
    const args = [
      'bench',
      'consume',
      '--messages',
      '400',
      '--consumers',
      '2',
      '--durability',
      'normal',
      '--json',
    ]
    const { bench } = JSON.parse((await rmq(args)).stdout)
    expect(bench.metrics.rate).toBeGreaterThan(0)
  })
})

describe('rmq bench e2e', () => {
  it('measures latencies of messages between processes', async () => {
    const args = ['bench', 'e2e', '--messages', '100', '--rate', '500/s', '--durability', 'normal', '--json']
    const { status, stdout } = await rmq(args)
    expect(status).toBe(0)
    const { metrics } = JSON.parse(stdout).bench
    for (const side of ['', 'raw.']) {
      expect(metrics[`${side}p50`]).toBeGreaterThan(0)
      expect(metrics[`${side}p99`]).toBeGreaterThanOrEqual(metrics[`${side}p50`])
      expect(metrics[`${side}max`]).toBeGreaterThanOrEqual(metrics[`${side}p99`])
    }
  })
})

describe('--assert', () => {
  const small = ['bench', 'consume', '--messages', '200', '--durability', 'normal']

  it('passes when it holds', async () => {
    const { status, stdout } = await rmq([...small, '--assert', 'ratio>0', '--assert', 'rate>=1', '--json'])
    expect(status).toBe(0)
    expect(JSON.parse(stdout).bench.checks.map(({ passed }: { passed: boolean }) => passed)).toEqual([
      true,
      true,
    ])
  })

  it('exits 5 when it does not, after the figures', async () => {
    const { status, stdout, stderr } = await rmq([...small, '--assert', 'ratio>=1000'])
    expect(status).toBe(5)
    expect(stdout).toContain('orderly')
    expect(stderr).toContain('ratio>=1000')
    const json = await rmq([...small, '--assert', 'ratio>=1000', '--json'])
    expect(json.status).toBe(5)
    expect(JSON.parse(json.stdout).bench.checks).toMatchObject([{ assert: 'ratio>=1000', passed: false }])
  })

  it.each(['ratio', 'speed>1', 'p50<1'])('%s is refused before anything is measured', async (text) => {
    const folder = tempFolder()
    const { status, stdout, stderr } = await rmq([...small, '--assert', text], inFolder(folder))
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(text.split(/[<>]/)[0])
  })
})

describe('a benchmark that is interrupted', () => {
  it.each([
    ['SIGINT', 130, 0],
    ['SIGTERM', 143, 0],
    // In the middle: workers are being started, or at work.
    ['SIGINT', 130, 400],
    ['SIGTERM', 143, 1200],
  ] as const)('by %s cleans up and exits %d (%d ms after its start)', async (signal, exitCode, afterMs) => {
    const folder = tempFolder()
    const child = startRmq(['bench', 'e2e', '--messages', '100000'], inFolder(folder))
    onTestFinished(() => void child.kill('SIGKILL'))
    while (!readdirSync(folder).some((name) => name.startsWith('rmq-bench-'))) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    child.kill(signal)
    const [status] = await once(child, 'exit')
    expect(status).toBe(exitCode)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('rmq bench worker', () => {
  it('is not for people', async () => {
    const { status, stderr } = await rmq(['bench', 'worker'])
    expect(status).toBe(2)
    expect(stderr).toContain('rmq bench send')
  })
})
