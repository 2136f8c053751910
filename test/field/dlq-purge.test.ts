import { expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, RunningRmq } from '../helpers/consumer.ts'
import { json, withDeadLetters } from '../helpers/dead-letters.ts'
import { shop } from '../helpers/shop.ts'
import { withBroker } from '../helpers/store.ts'
import { buryAll } from '../helpers/undertaker.ts'

it('a purge says what it removed and what is left, as the list has it right after', async () => {
  // Keys k0 and k1 take turns: 4 letters of k0, 3 of k1.
  const { run } = await withDeadLetters(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  const purge = ['dlq', 'purge', '-g', 'g', '--key', 'k1', '--confirm', 'g', '--json']
  const left = async () => (await json(run(['dlq', 'list', '-g', 'g', '--json']))).deadLetters.length
  expect(await json(run(purge))).toEqual({ group: 'g', purged: 3, left: 0, remaining: 4, dryRun: false })
  expect(await left()).toBe(4)
  const again = await run(purge)
  expect([again.status, JSON.parse(again.stdout)]).toEqual([
    0,
    { group: 'g', purged: 0, left: 0, remaining: 4, dryRun: false },
  ])
  expect(await left()).toBe(4)
})

it('a purge of many that is interrupted says what is done, and goes on when it is run again', async () => {
  const { db, run } = shop()
  await run(['topics', 'create', 't', '--queues', '4'])
  const count = 6000
  const input = Array.from({ length: count }, (_, i) => `k${i % 20}:m${i}\n`).join('')
  await run(['send', 't', '--key-delimiter', ':', '-q'], { input })
  await withBroker(db, (broker) => buryAll(broker, 't'))
  const purge = ['dlq', 'purge', '-g', 'g', '--confirm', 'g', '--json']
  const running = new RunningRmq(db, purge)
  const broker = await openBroker({ db })
  const dead = async () => (await broker.deadLetters.count('g', {})).get('g') ?? 0
  await expect.poll(dead, { ...PATIENCE, interval: 1 }).toBeLessThan(count)
  running.signal('SIGINT')
  expect(await running.ended).toEqual([130, null])
  const { purged, left, remaining } = JSON.parse(running.stdout)
  expect(purged).toBeGreaterThan(0)
  expect(left).toBeGreaterThan(0)
  expect(purged + left).toBe(count)
  expect([left, remaining]).toEqual([await dead(), await dead()])
  await broker.close()
  expect(await json(run(purge))).toEqual({ group: 'g', purged: left, left: 0, remaining: 0, dryRun: false })
}, 30_000)
