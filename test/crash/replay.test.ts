import { expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, RunningRmq } from '../helpers/consumer.ts'
import { json } from '../helpers/dead-letters.ts'
import { shop } from '../helpers/shop.ts'
import { withBroker } from '../helpers/store.ts'
import { buryAll } from '../helpers/undertaker.ts'

const KEYS = 5

/** A group `g` that has dead-lettered this many messages of five keys in two queues. */
async function graveyard(count: number) {
  const { db, run } = shop()
  await run(['topics', 'create', 't', '--queues', '2'])
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({ key: `k${i % KEYS}`, body: `m${i}` }),
  )
  await run(['send', 't', '--input', 'ndjson', '-q'], { input: lines.join('\n') })
  await withBroker(db, (broker) => buryAll(broker, 't'))
  return { db, run, bodies: lines.map((line) => JSON.parse(line).body as string) }
}

/** Each body once, and those of a key in their order. */
function expectAllOnce(seen: readonly string[], bodies: readonly string[]): void {
  const number = (body: string) => Number(body.slice(1))
  expect(seen.toSorted()).toEqual(bodies.toSorted())
  for (let key = 0; key < KEYS; key++) {
    const ofKey = seen.map(number).filter((n) => n % KEYS === key)
    expect(ofKey).toEqual(ofKey.toSorted((a, b) => a - b))
  }
}

it('of two replays at once each dead letter goes to one, ten times over', async () => {
  const { db, run, bodies } = await graveyard(200)
  // At a pace at which both are at it for a while.
  const replay = () => run(['dlq', 'replay', '-g', 'g', '--all', '--yes', '--json', '--rate', '500/s'])
  await using broker = await openBroker({ db })
  let contested = 0
  for (let round = 1; round <= 10; round++) {
    const both = await Promise.all([replay(), replay()])
    for (const { status, stderr } of both) {
      expect(stderr).not.toMatch(/locked|busy/i)
      expect(status).toBe(0)
    }
    const counts = both.map(({ stdout }) => JSON.parse(stdout).summary.replayed as number)
    if (counts.every((count) => count > 0)) contested++
    expect(counts.reduce((sum, count) => sum + count)).toBe(200)
    expectAllOnce(await buryAll(broker, 't'), bodies)
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 1000 })
    expect(deadLetters).toHaveLength(200)
    expect(new Set(deadLetters.map(({ replays }) => replays))).toEqual(new Set([round]))
  }
  expect((await json(run(['verify', '--json']))).violations).toEqual([])
  // Else the two were never at it at the same time, and the above shows little.
  expect(contested).toBeGreaterThan(0)
})

it('a replay that is killed in the middle neither doubles nor loses one, and can be run again', async () => {
  const { db, run, bodies } = await graveyard(400)
  const args = ['dlq', 'replay', '-g', 'g', '--all', '--yes']
  const left = async () => (await json(run(['dlq', 'list', '--json']))).groups[0]?.deadLetters ?? 0
  // At its first result, at its tenth, and somewhere after that.
  for (const lines of [1, 10, 60]) {
    const before = await left()
    const replay = new RunningRmq(db, [...args, '--rate', '400/s'])
    await expect
      .poll(() => replay.stdout.split('\n').length - 1, { ...PATIENCE, interval: 3 })
      .toBeGreaterThanOrEqual(lines)
    replay.signal('SIGKILL')
    expect(await replay.ended).toEqual([null, 'SIGKILL'])
    const told = replay.stdout.split('\n').length - 1
    // What it told of is done; at most what it was about to tell is done besides.
    expect(before - (await left())).toBeGreaterThanOrEqual(told)
    expect(await left()).toBeGreaterThan(0)
  }
  const rest = await left()
  const { summary } = await json(run([...args, '--json']))
  expect(summary).toMatchObject({ matched: rest, replayed: rest, remaining: 0 })
  expect(await left()).toBe(0)
  await withBroker(db, async (broker) => expectAllOnce(await buryAll(broker, 't', /$^/), bodies))
  expect((await json(run(['verify', '--json']))).violations).toEqual([])
})
