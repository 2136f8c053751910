import { afterEach, beforeEach, expect, it } from 'vitest'
import { Cluster, type Engine } from './engine.ts'

let cluster: Cluster
let a: Engine

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
})

afterEach(() => cluster.close())

it('is made when the first concurrent member joins, with one queue, and stays the same', async () => {
  await a.join('g', 'a', { mode: 'concurrent' })
  const made = { topic: '%RETRY%g', queues: 1, hash: 'java', perm: 6, retentionMs: null }
  expect(a.topics.find('%RETRY%g')).toMatchObject(made)
  const row = a.queueRow('%RETRY%g', 0)
  await a.send('%RETRY%g', 0, { body: 'by hand' })
  await a.join('g', 'a', { mode: 'concurrent' })
  await cluster.start().join('g', 'b', { mode: 'concurrent' })
  expect(a.queueRow('%RETRY%g', 0)).toBe(row)
  expect(a.topics.stats('%RETRY%g')).toMatchObject([{ minOffset: 0, maxOffset: 1 }])
})

it('is made for the longest group name: 255 characters, with %RETRY% more than a topic of people may have', async () => {
  const group = 'g'.repeat(255)
  await a.join(group, 'a', { mode: 'concurrent' })
  expect(a.topics.find(`%RETRY%${group}`)).toMatchObject({ queues: 1 })
})

it('is not made for members that never send back: orderly and broadcasting ones', async () => {
  await a.join('ordered', 'a')
  await a.join('all', 'a', { mode: 'concurrent', messageModel: 'broadcasting' })
  expect(a.topics.list(true).map(({ topic }) => topic)).toEqual(['orders'])
})

it('is not made for a consumer that is refused', async () => {
  await a.join('g', 'a')
  await expect(cluster.start().join('g', 'b', { mode: 'concurrent' })).rejects.toMatchObject({
    code: 'GROUP_CONFLICT',
  })
  expect(a.topics.find('%RETRY%g')).toBeUndefined()
})
