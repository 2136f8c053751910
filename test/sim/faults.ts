import type { OffsetCommit, SendGroup } from '../../src/core/broker.ts'
import type { Fault } from './fault.ts'

/** Moves a committed offset past every check. */
const FORCE_COMMIT = `update consumer_offset set committed_offset = @offset
  where group_id = (select id from consumer_group where name = @group)
    and queue_id = (select q.id from queue q join topic t on t.id = q.topic_id
                    where t.name = @topic and q.queue_id = @queueId)`

/** A commit that the broker refuses is carried out all the same, as RocketMQ's broker does. */
const epochNotChecked: Fault = {
  name: 'the epoch of a commit is not checked',
  breaks: [2, 3, 4, 6, 9],
  async around(call, next, { view }) {
    const answer = await next()
    if (call.name !== 'commitOffsets') return answer
    const [group, , commits] = call.args as [string, string, readonly OffsetCommit[]]
    const accepted = answer as readonly boolean[]
    for (const [i, { mq, offset }] of commits.entries()) {
      if (accepted[i]) continue
      view.db.prepare(FORCE_COMMIT).run({ group, topic: mq.topic, queueId: mq.queueId, offset })
      view.touch()
    }
    return accepted.map(() => true)
  },
}

const commitBeforeHandler: Fault = {
  name: 'the offset is committed before the handler runs',
  breaks: [2, 3, 7],
  listen: (listener, commit) => async (messages, context) => {
    if (!messages[0]?.redelivery) await commit([messages, context])
    return await listener(messages, context)
  },
}

/** An emptied queue begins at 0 again. */
const offsetFromMax: Fault = {
  name: 'offsets are taken from max(offset) of what is stored',
  breaks: [1, 2, 5, 6],
  around(call, next, { view }) {
    if (call.name === 'send') {
      for (const { mq } of call.args[0] as readonly SendGroup[]) {
        const row = view.db
          .prepare<[string, number], number>(
            'select q.id from queue q join topic t on t.id = q.topic_id where t.name = ? and q.queue_id = ?',
          )
          .pluck()
          .get(mq.topic, mq.queueId)
        view.db.exec(`update queue set
          max_offset = coalesce((select max(offset) + 1 from message_${row}), 0),
          min_offset = min(min_offset, coalesce((select max(offset) + 1 from message_${row}), 0)) where id = ${row}`)
      }
      view.touch()
    }
    return next()
  },
}

const leaseOnWallClock: Fault = {
  name: 'leases run on the wall clock',
  breaks: [0, 3, 4, 9],
  bend: (runtime) => ({
    now: () => runtime.now(),
    monotonic: () => runtime.now(),
    random: () => runtime.random(),
    setTimer: (ms, fn) => runtime.setTimer(ms, fn),
    defer: (fn) => runtime.defer(fn),
  }),
}

/** As in RocketMQ, where a message that crashes its consumer never runs out of attempts. */
const attemptsNotStored: Fault = {
  name: 'the start of an attempt is not stored',
  breaks: [0, 2, 3, 7],
  around: (call, next) => (call.name === 'attempts.start' ? Promise.resolve(true) : next()),
}

/** A takeover that does not look whether the owner lives. */
const locksForTheAsking: Fault = {
  name: 'a lock is taken from a living owner',
  breaks: [3, 4, 9],
  around(call, next, { view, world }) {
    if (call.name === 'lockBatch' && world.chance.hit(0.2)) {
      view.db.exec('delete from lock_handler; update queue_lock set client_id = null')
      view.touch()
    }
    return next()
  },
}

export const FAULTS: readonly Fault[] = [
  epochNotChecked,
  commitBeforeHandler,
  offsetFromMax,
  leaseOnWallClock,
  attemptsNotStored,
  locksForTheAsking,
]
