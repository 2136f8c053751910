import { describe, expect, it } from 'vitest'
import type { GroupMember, QueueLock } from '../../src/core/index.ts'
import { lockEvents, type MemberLookup } from '../../src/ui/lock-events.ts'

const HELD: QueueLock = {
  mq: { topic: 'orders', brokerName: 'embedded', queueId: 0 },
  group: 'mailer',
  clientId: 'a',
  pid: 1,
  host: 'h',
  alive: true,
  epoch: 1,
  acquiredAt: 1_000,
  renewedAt: 1_000,
  expiresAt: 61_000,
  state: 'held',
}
const TAKEN: QueueLock = { ...HELD, clientId: 'b', pid: 2, epoch: 2, acquiredAt: 5_000, renewedAt: 5_000 }

/** What is known of the old owner; `undefined`: it is no member any more. */
function owner(state: GroupMember['state'] | undefined): MemberLookup {
  return () => (state === undefined ? undefined : ({ state } as GroupMember))
}

function kinds(before: readonly QueueLock[], after: readonly QueueLock[], memberOf = owner('alive')) {
  return lockEvents(before, after, memberOf).map(({ event, lock, from }) => [event, lock.clientId, from])
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

  it('is a hand-over when the old owner lives or left in good order', () => {
    const handOver = [
      ['released', 'a', null],
      ['acquired', 'b', null],
    ]
    expect(kinds([HELD], [TAKEN], owner('alive'))).toEqual(handOver)
    expect(kinds([HELD], [TAKEN], owner(undefined))).toEqual(handOver)
  })

  it.each(['dead', 'silent'] as const)('is a takeover from an owner that is %s', (state) => {
    expect(kinds([HELD], [TAKEN], owner(state))).toEqual([['taken-over', 'b', 'a']])
  })

  it('is a takeover when the lease had ended', () => {
    const late = { ...TAKEN, acquiredAt: HELD.expiresAt }
    expect(kinds([HELD], [late])).toEqual([['taken-over', 'b', 'a']])
    expect(kinds([{ ...HELD, state: 'expired' }], [TAKEN])).toEqual([['taken-over', 'b', 'a']])
  })

  it('takes locks of other queues and groups apart', () => {
    const others = [
      { ...HELD, mq: { ...HELD.mq, queueId: 1 } },
      { ...HELD, group: 'audit' },
      { ...HELD, mq: { ...HELD.mq, topic: 'bills' } },
    ]
    expect(kinds([HELD], [HELD, ...others])).toEqual(others.map(() => ['acquired', 'a', null]))
  })
})
