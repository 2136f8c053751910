import { describe, expect, it } from 'vitest'
import type { QueueLock } from '../../src/core/index.ts'
import { lockEvents } from '../../src/ui/lock-events.ts'

const HELD: QueueLock = {
  mq: { topic: 'orders', brokerName: 'embedded', queueId: 0 },
  group: 'mailer',
  clientId: 'a',
  pid: 1,
  host: 'h',
  alive: true,
  epoch: 1,
  predecessor: 'none',
  acquiredAt: 1_000,
  renewedAt: 1_000,
  expiresAt: 61_000,
  state: 'held',
}
const TAKEN: QueueLock = {
  ...HELD,
  clientId: 'b',
  pid: 2,
  epoch: 2,
  predecessor: 'released',
  acquiredAt: 5_000,
  renewedAt: 5_000,
}

function kinds(before: readonly QueueLock[], after: readonly QueueLock[]) {
  return lockEvents(before, after).map(({ event, lock, from }) => [event, lock.clientId, from])
}

describe('lockEvents', () => {
  it('is silent when nothing happened', () => {
    expect(kinds([HELD], [{ ...HELD }])).toEqual([])
  })

  it('sees a lock come, be renewed and go', () => {
    expect(kinds([], [HELD])).toEqual([['acquired', 'a', null]])
    expect(kinds([HELD], [{ ...HELD, renewedAt: 2_000 }])).toEqual([['renewed', 'a', null]])
    expect(kinds([HELD], [])).toEqual([['released', 'a', null]])
  })

  it.each(['dead', 'expired'] as const)('calls it lost when its owner is %s, once', (state) => {
    const lost = { ...HELD, state }
    expect(kinds([HELD], [lost])).toEqual([['lost', 'a', null]])
    expect(kinds([lost], [lost])).toEqual([])
  })

  it('is a hand-over when the old owner gave it back', () => {
    expect(kinds([HELD], [TAKEN])).toEqual([
      ['released', 'a', null],
      ['acquired', 'b', null],
    ])
  })

  it.each(['dead', 'expired', 'forced'] as const)(
    'is a takeover when the old owner lost it: %s',
    (predecessor) => {
      expect(kinds([HELD], [{ ...TAKEN, predecessor }])).toEqual([['taken-over', 'b', 'a']])
    },
  )

  it('takes locks of other queues and groups apart', () => {
    const others = [
      { ...HELD, mq: { ...HELD.mq, queueId: 1 } },
      { ...HELD, group: 'audit' },
      { ...HELD, mq: { ...HELD.mq, topic: 'bills' } },
    ]
    expect(kinds([HELD], [HELD, ...others])).toEqual(others.map(() => ['acquired', 'a', null]))
  })
})
