import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BatchResult, SendResult } from '../../src/core/index.ts'
import { localTime } from '../../src/ui/local-time.ts'
import { Output } from '../../src/ui/output.ts'
import { SendReport } from '../../src/ui/send-report.ts'
import { recorder } from '../helpers/recorder.ts'

const AT = Date.UTC(2026, 7, 1, 6, 45, 15, 250)
const zone = process.env.TZ
const inZone = (name: string) => {
  process.env.TZ = name
}
beforeEach(() => inZone('UTC'))
afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

describe('a time in the local zone', () => {
  it.each([
    ['UTC', AT, '2026-08-01T06:45:15.250+00:00'],
    ['Asia/Kathmandu', AT, '2026-08-01T12:30:15.250+05:45'],
    ['America/New_York', AT, '2026-08-01T02:45:15.250-04:00'],
    ['America/New_York', Date.UTC(2026, 0, 1, 3), '2025-12-31T22:00:00.000-05:00'],
    ['America/St_Johns', Date.UTC(2026, 0, 1, 3), '2025-12-31T23:30:00.000-03:30'],
  ])('%s %i', (name, at, text) => {
    inZone(name)
    expect(localTime(at)).toBe(text)
    expect(Date.parse(text)).toBe(at)
  })
})

describe('a message that was sent', () => {
  const plain: SendResult = {
    sendStatus: 'SEND_OK',
    msgId: 'A',
    topic: 't',
    brokerName: 'embedded',
    queueId: 3,
    queueOffset: 17,
  }
  const batch: BatchResult = {
    count: 2,
    result: (i) => [plain, { ...plain, msgId: 'B', queueOffset: null, deliverAt: AT }][i] as SendResult,
  }
  const messages = [
    { topic: 't', body: 'a' },
    { topic: 't', body: 'b', key: 'k', deliverAt: AT },
  ]
  const told = async (isTTY: boolean, form: 'text' | 'records' | 'document') => {
    const stdout = recorder({ isTTY })
    const out = new Output({ stream: stdout, env: {}, color: undefined, now: () => AT })
    await new SendReport(out, form, () => 0).sentBatch(messages, batch)
    return stdout.text()
  }

  it('is told with its offset, or with the time at which it comes', async () => {
    inZone('Asia/Kathmandu')
    expect(await told(false, 'text')).toBe('A\t3\t17\nB\t3\tdue 2026-08-01T06:45:15.250Z\n')
    expect(await told(true, 'text')).toBe(
      'A  queue 3  offset 17\nB  queue 3  due 2026-08-01T12:30:15.250+05:45\n',
    )
  })

  it('is a record of the same facts', async () => {
    const records = [
      { msgId: 'A', topic: 't', queueId: 3, queueOffset: 17, key: null, status: 'SEND_OK' },
      {
        msgId: 'B',
        topic: 't',
        queueId: 3,
        queueOffset: null,
        deliverAt: '2026-08-01T06:45:15.250Z',
        key: 'k',
        status: 'SEND_OK',
      },
    ]
    const lines = (await told(false, 'records')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(records)
    expect(JSON.parse(await told(false, 'document'))).toEqual({ sent: records })
  })
})
