import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verify } from '../../../src/core/ops/verify.ts'
import { Graveyard } from './graveyard.ts'

let yard: Graveyard
beforeEach(async () => {
  yard = await Graveyard.open()
})
afterEach(() => yard.remove())

describe('verify', () => {
  it('finds nothing wrong with a store that was only used', async () => {
    await yard.bury('mailer', await yard.send('orders', ['a', 'b']))
    const report = await verify(yard.broker)
    expect(report.violations).toEqual([])
    expect(Object.values(report.checked).some((count) => count > 0)).toBe(true)
  })

  it('does not call a topic or group sound that is not there', async () => {
    await expect(verify(yard.broker, { topic: 'nothing' })).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await expect(verify(yard.broker, { group: 'nobody' })).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
  })

  it('says so when the broker cannot be looked into', async () => {
    const closed = Object.create(yard.broker, { audit: { value: undefined } })
    await expect(verify(closed)).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_BROKER' })
  })
})
