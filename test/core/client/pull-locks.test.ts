import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { PullEvent } from '../../../src/core/index.ts'
import { tempDb } from '../../helpers/temp.ts'
import { bodies, committed, consumerOf, mq, opened } from './pull-fixture.ts'

describe('locks of a pull consumer', () => {
  it('keep a second consumer out, which learns who is there', async () => {
    const db = tempDb()
    const broker = await opened([[0], [10]], db)
    const first = consumerOf(broker, { clientId: 'first' })
    await first.assign([mq(0)])
    const second = consumerOf(broker, { clientId: 'second' })
    await expect(second.assign([mq(0), mq(1)])).rejects.toMatchObject({
      code: 'LOCK_HELD',
      why: expect.stringContaining('first'),
    })
    expect((await broker.listLocks()).map(({ clientId }) => clientId)).toEqual(['first'])
    const { assigned, held } = await second.tryAssign([mq(0), mq(1)])
    expect(assigned).toEqual([mq(1)])
    expect(held).toMatchObject([{ mq: mq(0), holder: { clientId: 'first', pid: process.pid } }])
    expect(bodies(await second.poll())).toBe('10')
  })

  it('that were taken away make a commit fail, and move nothing', async () => {
    const broker = await opened([[0, 1], [10]])
    const events: PullEvent[] = []
    const consumer = consumerOf(broker, { onEvent: (event) => events.push(event) })
    await consumer.assign([mq(0), mq(1)])
    await consumer.poll()
    await consumer.poll()
    await broker.releaseLocks({ group: 'g', queueId: 0 }, { force: true })
    await expect(consumer.commitAll()).rejects.toMatchObject({
      code: 'LOCK_LOST',
      details: { queues: [{ topic: 'T', queueId: 0 }] },
    })
    expect(await committed(broker)).toEqual([
      [0, 0],
      [1, 1],
    ])
    expect(events).toEqual([{ kind: 'lock-lost', mq: mq(0), refusedCommit: true }])
    expect(consumer.assignment).toEqual([mq(1)])
    await expect(consumer.commit(mq(0), 1)).rejects.toMatchObject({ code: 'LOCK_LOST' })
    await broker.releaseLocks({ group: 'g' }, { force: true })
    await expect(consumer.commit(mq(1), 0)).rejects.toMatchObject({ code: 'LOCK_LOST' })
    await expect(consumer.poll()).rejects.toMatchObject({ code: 'LOCK_LOST' })
  })

  it('are renewed, and a loss is noticed by that', async () => {
    const broker = await opened([[0]])
    const events: PullEvent[] = []
    const consumer = consumerOf(broker, { lockTtlMs: 300, onEvent: (event) => events.push(event) })
    await consumer.assign([mq(0)])
    await sleep(900)
    expect(await broker.listLocks()).toMatchObject([{ clientId: consumer.clientId, state: 'held' }])
    expect(await broker.members('g')).toMatchObject([{ state: 'alive' }])
    await broker.releaseLocks({ group: 'g' }, { force: true })
    await broker.lockBatch('g', 'thief', [mq(0)], 60_000)
    await expect.poll(() => events).toEqual([{ kind: 'lock-lost', mq: mq(0), refusedCommit: false }])
  })

  it('that were taken away are not taken back by a renewal', async () => {
    const broker = await opened([[0]])
    const events: PullEvent[] = []
    const consumer = consumerOf(broker, { lockTtlMs: 300, onEvent: (event) => events.push(event) })
    await consumer.assign([mq(0)])
    await broker.releaseLocks({ group: 'g' }, { force: true })
    await expect.poll(() => events).toHaveLength(1)
    await expect.poll(() => broker.listLocks()).toEqual([])
    await consumer.assign([mq(0)])
    expect(bodies(await consumer.poll())).toBe('0')
  })

  it('are no matter between groups', async () => {
    const broker = await opened([[0]])
    const one = consumerOf(broker)
    const two = consumerOf(broker, { group: 'h' })
    await one.assign([mq(0)])
    await two.assign([mq(0)])
    expect([bodies(await one.poll()), bodies(await two.poll())]).toEqual(['0', '0'])
  })

  it('stand beside members of either mode, which keep their queues', async () => {
    const broker = await opened([[0], [10]])
    for (const mode of ['orderly', 'concurrent'] as const) {
      const group = `${mode}-group`
      const clientId = `${mode}-member`
      const subscriptions = [{ topic: 'T', expressionType: 'TAG' as const, expression: '*' }]
      await broker.heartbeat({ group, clientId, mode, subscriptions, lockTtlMs: 60_000 })
      await broker.lockBatch(group, clientId, [mq(0)], 60_000)
      const consumer = consumerOf(broker, { group })
      expect(await consumer.tryAssign([mq(0), mq(1)])).toMatchObject({ assigned: [mq(1)] })
      // It has no share in the allocation.
      expect(await broker.memberIds(group, 'T')).toEqual([clientId])
      const other = consumerOf(broker, { group, tags: 'A' })
      await expect(other.assign([mq(1)])).rejects.toMatchObject({ code: 'GROUP_CONFLICT' })
    }
  })
})
