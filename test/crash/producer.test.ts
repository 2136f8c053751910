import { expect, it } from 'vitest'
import { PATIENCE, RunningRmq } from '../helpers/consumer.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'

const PRODUCERS = 3
const ROUNDS = 4
const LINES = 50
/** Some thousand lines of what it prints. */
const TOLD_BYTES = 150_000

/** `rmq send` whose input goes on until it is killed. Its key is its name, so all of it lies in one queue. */
function endless(db: string, name: string) {
  const rmq = new RunningRmq(db, ['send', 't', '--input', 'ndjson', '--no-create'])
  let written = 0
  const lines = () =>
    Array.from({ length: LINES }, () => `${JSON.stringify({ key: name, body: `${written++}` })}\n`).join('')
  const feed = () => {
    while (rmq.child.stdin?.write(lines()));
  }
  rmq.child.stdin?.on('drain', feed)
  feed()
  /** Where it said that its messages are; a line that was cut short says nothing. */
  const told = () =>
    rmq.stdout
      .slice(0, rmq.stdout.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'))
  return { name, rmq, told, written: () => written }
}

async function storedBodies(db: string) {
  const bodies = new Map<string, string[]>()
  const places = new Map<string, string>()
  await withBroker(db, async (broker) => {
    for (const { mq, maxOffset } of await broker.queueStats('t')) {
      for (let offset = 0; offset < maxOffset; ) {
        const { messages } = await broker.pull({ mq, offset, maxMessages: 1000, waitMs: 0 })
        for (const { msgId, key, body, queueOffset } of messages) {
          expect(queueOffset).toBe(offset++)
          const of = bodies.get(key ?? '') ?? []
          bodies.set(key ?? '', of)
          of.push(Buffer.from(body).toString())
          places.set(msgId, `${mq.queueId} ${queueOffset}`)
        }
      }
    }
  })
  return { bodies, places }
}

it('producers that are killed in mid-stream: what they told of is stored once, the rest at most once', async () => {
  const { db, run } = shop()
  await seed(db, 't', 4, [])
  let cutShort = 0
  for (let round = 0; round < ROUNDS; round++) {
    const producers = Array.from({ length: PRODUCERS }, (_, i) => endless(db, `r${round}p${i}`))
    // Each round later in the stream: at its first answer, then ever more batches on.
    for (const { rmq } of producers) {
      await expect.poll(() => rmq.stdout.length, PATIENCE).toBeGreaterThan(round * TOLD_BYTES)
    }
    for (const { rmq } of producers) rmq.signal('SIGKILL')
    for (const { rmq } of producers) {
      expect(await rmq.ended).toEqual([null, 'SIGKILL'])
      expect(rmq.stderr).toBe('')
    }
    const { bodies, places } = await storedBodies(db)
    for (const { name, told, written } of producers) {
      const stored = bodies.get(name) ?? []
      // A beginning of what it was given, nothing twice, nothing left out.
      expect(stored).toEqual(stored.map((_, i) => String(i)))
      expect(stored.length).toBeLessThanOrEqual(written())
      expect(stored.length).toBeGreaterThanOrEqual(told().length)
      for (const [msgId = '', queueId, offset] of told())
        expect(places.get(msgId)).toBe(`${queueId} ${offset}`)
      if (stored.length < written()) cutShort++
    }
  }
  // Else nobody was killed in the middle of anything.
  expect(cutShort).toBeGreaterThan(0)
  const next = await run(['send', 't', 'after', '--json'])
  expect([next.status, next.stderr]).toEqual([0, ''])
  expect(JSON.parse((await run(['verify', '--json'])).stdout).violations).toEqual([])
})
