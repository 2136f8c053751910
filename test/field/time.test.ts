import { expect, it } from 'vitest'
import { PATIENCE, RunningRmq } from '../helpers/consumer.ts'
import { parseLines, shop } from '../helpers/shop.ts'

const SENDER_ZONE = 'Asia/Kathmandu'
const SENDER_OFFSET = '+05:45'
const SENDER_OFFSET_MS = (5 * 60 + 45) * 60_000
/** Far from the quarter of an hour by which the nearest zones differ, and bearable for a busy machine. */
const LATE_MS_MAX = 5_000

/** The moment as a clock on the sender's wall shows it. */
const local = (at: number) => new Date(at + SENDER_OFFSET_MS).toISOString().slice(0, -1)

it('R09: a time is the same moment to senders and consumers of every zone', async () => {
  const { db, run } = shop()
  await run(['topics', 'create', 't', '--queues', '1'])
  const due = Date.now() + 8000
  const [date, clock] = local(due).split('T')
  const times: readonly (readonly [string, string])[] = [
    ['--delay', '2s'],
    ['--deliver-at', `${date}T${clock}${SENDER_OFFSET}`],
    ['--deliver-at', String(due)],
    // Without a zone it is the sender's.
    ['--deliver-at', `${date}#${clock?.replace('.', ':')}`],
  ]
  const count = String(times.length)
  const consumers = ['America/New_York', 'UTC'].map((TZ, i) => {
    return new RunningRmq(db, ['consume', 't', '-g', `g${i}`, '--json', '-c', count], { TZ })
  })
  const told = new Map<string, number>()
  for (const [flag, value] of times) {
    const sent = await run(['send', 't', value, flag, value, '--json'], { env: { TZ: SENDER_ZONE } })
    const { msgId, deliverAt } = JSON.parse(sent.stdout).sent[0]
    told.set(msgId, Date.parse(deliverAt))
    if (flag === '--deliver-at') expect(Date.parse(deliverAt), value).toBe(due)
  }
  for (const consumer of consumers) {
    await expect.poll(() => parseLines(consumer.stdout).length, PATIENCE).toBe(times.length)
    for (const { msgId, body, storeTimestamp } of parseLines(consumer.stdout)) {
      const late = Date.parse(storeTimestamp) - (told.get(msgId) ?? Number.NaN)
      expect(late, body).toBeGreaterThanOrEqual(0)
      expect(late, body).toBeLessThan(LATE_MS_MAX)
    }
  }
})
