import { describe, expect, it } from 'vitest'
import { InvariantViolation } from '../../../../src/core/model/errors.ts'
import { ConsumptionMeter, type MessageOrder } from '../../../../src/core/ops/bench/consume-workload.ts'
import { systemRuntime } from '../../../../src/core/system-runtime.ts'

type Place = readonly [queueId: number, queueOffset: number, key?: string]

function meterOf(order: MessageOrder, places: readonly Place[], expected = places.length): ConsumptionMeter {
  const meter = new ConsumptionMeter(systemRuntime, expected, order)
  for (const [queueId, queueOffset, key = null] of places) meter.onMessage({ queueId, queueOffset, key })
  return meter
}

describe('a meter of consumption', () => {
  it.each<[MessageOrder, readonly Place[]]>([
    [
      'queue',
      [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 3],
      ],
    ],
    [
      'key',
      [
        [0, 1, 'b'],
        [0, 0, 'a'],
        [0, 2, 'b'],
        [0, 3, 'a'],
      ],
    ],
    [
      'none',
      [
        [0, 2],
        [0, 0],
        [1, 2],
        [0, 1],
      ],
    ],
  ])('counts what comes in the order of %s', (order, places) => {
    expect(meterOf(order, places).measure().count).toBe(4)
  })

  it.each<[MessageOrder, readonly Place[]]>([
    [
      'queue',
      [
        [0, 1],
        [0, 0],
      ],
    ],
    [
      'queue',
      [
        [0, 1],
        [0, 1],
      ],
    ],
    [
      'key',
      [
        [0, 1, 'a'],
        [0, 0, 'a'],
      ],
    ],
    [
      'none',
      [
        [0, 1],
        [1, 1],
        [0, 1],
      ],
    ],
  ])('refuses what breaks the order of %s: %j', (order, places) => {
    expect(() => meterOf(order, places)).toThrow(InvariantViolation)
  })

  it('has no rate when something is missing', () => {
    expect(() => meterOf('none', [[0, 0]], 2).measure()).toThrow(InvariantViolation)
  })
})
