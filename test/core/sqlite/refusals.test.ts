import { afterEach, beforeEach, expect, it } from 'vitest'
import type { MemberHeartbeat } from '../../../src/core/model/group.ts'
import { Cluster, type Engine, orderly } from './engine.ts'

let cluster: Cluster
let a: Engine
let b: Engine

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  b = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 1 })
  await a.join('g', 'a')
})

afterEach(() => cluster.close())

/** What a process has told since the last call, when it hears of a change. */
function told(engine: Engine): string[] {
  engine.consumption.onChange('rebalance')
  const texts = engine.notifications.splice(0).flatMap((n) => (n.kind === 'notice' ? [n.text] : []))
  return texts
}

const refused = async (engine: Engine, clientId: string, more: Partial<MemberHeartbeat>) =>
  await expect(engine.join('g', clientId, more)).rejects.toMatchObject({ code: 'GROUP_CONFLICT' })

it.each<[string, Partial<MemberHeartbeat>, RegExp]>([
  ['mode', { mode: 'concurrent' }, /as a concurrent consumer/],
  ['model', { messageModel: 'broadcasting' }, /as a broadcasting consumer/],
  ['expression', orderly('orders', 'paid'), /with TAG "paid" on orders/],
  ['strategy', { allocate: 'circle' }, /with the strategy circle on orders/],
])('another %s: the member hears who was refused, and why', async (_what, more, wanted) => {
  await refused(b, 'b', more)
  const [text, ...others] = told(a)
  expect(others).toEqual([])
  expect(text).toMatch(wanted)
  expect(text).toContain(`consumer b (${b.host.process.pid}@${b.host.process.host})`)
  expect(text).toMatch(/join group g .*was refused$/)
})

it('is told once for each, to every process that has a member, and to no other', async () => {
  const c = cluster.start()
  await c.join('g', 'c')
  const stranger = cluster.start()
  await stranger.join('other', 'stranger')
  await refused(b, 'b', { mode: 'concurrent' })
  for (const member of [a, c]) expect(told(member)).toHaveLength(1)
  for (const member of [a, c]) expect(told(member)).toEqual([])
  await refused(b, 'b', { mode: 'concurrent' })
  for (const member of [a, c]) expect(told(member)).toHaveLength(1)
  expect(told(stranger)).toEqual([])
  expect(told(b)).toEqual([])
})

it('is no news to who joins afterwards', async () => {
  await refused(b, 'b', { mode: 'concurrent' })
  const late = cluster.start()
  await late.join('g', 'late')
  expect(told(late)).toEqual([])
  expect(told(a)).toHaveLength(1)
})

it('leaves the refused one out of the group, and who agrees is told nothing', async () => {
  await refused(b, 'b', { mode: 'concurrent' })
  await b.join('g', 'b')
  expect(told(a)).toHaveLength(1)
  expect((await a.consumption.memberIds('g', 'orders')).toSorted()).toEqual(['a', 'b'])
  expect(told(b)).toEqual([])
})
