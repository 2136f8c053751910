import { describe, expect, it } from 'vitest'
import type { BenchReport } from '../../src/core/index.ts'
import { benchDocument, writeBenchReport } from '../../src/ui/bench-report.ts'
import { Output } from '../../src/ui/output.ts'
import { recorder } from '../helpers/recorder.ts'

const REPORT: BenchReport = {
  kind: 'send',
  settings: {
    messages: 1_000_000,
    size: 4_194_304,
    queues: 1024,
    keys: 100_000,
    durability: 'normal',
    seed: 12_345,
    batch: 1000,
    producers: 8,
  },
  rows: [
    { work: 'batches of 1000', ours: 1_234_567.8, raw: 2_345_678.9, ratio: 0.5263, unit: 'msg/s', fair: 0.9 },
    { work: 'one at a time', ours: 98.4, raw: 104.26, ratio: 0.9438, unit: 'msg/s', fair: 0.876_54 },
  ],
  metrics: { rate: 1_234_567.8, ratio: 0.526_34 },
}

async function written(look: { isTTY?: boolean; columns?: number }, report = REPORT): Promise<string> {
  const stream = recorder(look)
  await writeBenchReport(report, new Output({ stream, env: {}, color: 'never', now: () => 0 }))
  return stream.text()
}

describe('the report of a benchmark', () => {
  it('fits into 80 columns of a terminal, figures to the right', async () => {
    const lines = (await written({ isTTY: true, columns: 80 })).trimEnd().split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(lines.slice(-3)).toEqual([
      'WORK             RMQ msg/s  RAW msg/s  RATIO  FAIR',
      'batches of 1000  1,234,568  2,345,679   0.53  0.90',
      'one at a time        98.40        104   0.94  0.88',
    ])
    expect(lines.join(' ')).toContain('1,000,000 messages of 4,194,304 B')
    expect(lines.join(' ')).toContain('durability normal, seed 12345, batch 1,000, producers 8')
  })

  it('is plain numbers for a pipe', async () => {
    expect(await written({})).toBe(
      'batches of 1000\t1234568\t2345679\t0.526\t0.9\none at a time\t98.4\t104\t0.944\t0.877\n',
    )
  })

  it('has a column for the unit where there are several', async () => {
    const rows = [
      { work: 'memory', ours: 163.25, raw: 66.5, ratio: 0.4073, unit: 'MB', fair: null },
      { work: 'sending', ours: 250_000, raw: 280_000, ratio: 0.8929, unit: 'msg/s', fair: null },
    ] as const
    const lines = (await written({ isTTY: true, columns: 80 }, { ...REPORT, rows })).trimEnd().split('\n')
    expect(lines.slice(-3)).toEqual([
      'WORK         RMQ      RAW  UNIT   RATIO',
      'memory       163    66.50  MB      0.41',
      'sending  250,000  280,000  msg/s   0.89',
    ])
    expect(await written({}, { ...REPORT, rows })).toBe(
      'memory\t163\t66.5\tMB\t0.407\nsending\t250000\t280000\tmsg/s\t0.893\n',
    )
  })

  it('has the figures by the names of --assert in JSON', () => {
    const checks = [{ assert: 'ratio>=0.25', value: 0.526_34, passed: true }]
    expect(benchDocument(REPORT, checks)).toEqual({
      bench: { kind: 'send', settings: REPORT.settings, metrics: { rate: 1_234_568, ratio: 0.526 }, checks },
    })
  })
})
