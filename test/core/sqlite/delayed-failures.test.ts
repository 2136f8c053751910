import { expect, it } from 'vitest'
import { DelayedDelivery, type DeliveryParts } from '../../../src/core/sqlite/delayed-delivery.ts'
import type { Store } from '../../../src/core/sqlite/store.ts'
import { ManualRuntime } from '../../helpers/manual-runtime.ts'
import { settled } from './engine.ts'

/** A store with one message that is due, and a disk that is full until `isFull` says otherwise. */
function fullStore() {
  const runtime = new ManualRuntime()
  const state = { isFull: true, writes: 0, firstDue: runtime.now() as number | undefined }
  const store = {
    host: { runtime },
    write: async () => {
      state.writes++
      if (state.isFull) throw new Error('disk full')
      state.firstDue = undefined
    },
  } as unknown as Store
  const parts = { delayed: { firstDue: () => state.firstDue } } as unknown as DeliveryParts
  const errors: unknown[] = []
  const delivery = new DelayedDelivery(store, parts, (error) => errors.push(error))
  return { runtime, state, delivery, errors }
}

it('a delivery that fails is tried again once a second, and then goes on', async () => {
  const { runtime, state, delivery, errors } = fullStore()
  delivery.isWatching = true
  delivery.changed()
  await runtime.pass(10_000)
  await settled()
  expect(state.writes).toBeGreaterThanOrEqual(9)
  expect(state.writes).toBeLessThanOrEqual(11)
  expect(errors).toHaveLength(state.writes)
  state.isFull = false
  await runtime.pass(1100)
  await settled()
  expect(state.firstDue).toBeUndefined()
  expect(runtime.waiting).toBe(0)
})

it('a delivery that fails does not keep anyone from reading', async () => {
  const { runtime, delivery, errors } = fullStore()
  await expect(delivery.deliverDue()).resolves.toBeUndefined()
  expect(errors).toHaveLength(1)
  expect(runtime.waiting).toBe(0)
})

it('nothing runs on when nobody watches any more', async () => {
  const { runtime, state, delivery } = fullStore()
  state.firstDue = runtime.now() + 60_000
  delivery.isWatching = true
  delivery.changed()
  expect(runtime.waiting).toBe(1)
  delivery.isWatching = false
  expect(runtime.waiting).toBe(0)
  delivery.changed()
  expect(runtime.waiting).toBe(0)
})
