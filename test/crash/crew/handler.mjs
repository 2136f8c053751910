import { existsSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A handler whose answers follow from a seed, the number in the message's body and the attempt: see `HandlerPlan`. It
 * notes its starts and ends in a log that all handlers of a test append to, so its lines stand in the order in which
 * things happened. An end is noted before it is told. `owner` is the pid of the consumer.
 */
export function planned(plan, owner) {
  const { log, seed, failPercent, rejectPercent, slowPercent, slowMs, workMs, stuck } = plan
  const file = openSync(log, 'a')
  const run = `${process.pid} ${owner}`
  return async ({ n, key, attempt }) => {
    const note = (what) => writeSync(file, `${what} ${run} ${n} ${key} ${attempt} ${Date.now()}\n`)
    note('start')
    const fate = seed === null ? Math.floor(100 * Math.random()) : chance(seed, n, attempt)
    const isSlow = fate >= 100 - slowPercent
    await sleep(isSlow ? slowMs : workMs)
    const status = answer(fate)
    note(status)
    return { status, ...(status !== 'success' && { error: `no (${attempt})` }) }

    function answer(fate) {
      if (stuck?.key === key) return existsSync(stuck.file) ? 'retry' : 'success'
      if (fate < rejectPercent) return 'dead-letter'
      return fate < rejectPercent + failPercent ? 'retry' : 'success'
    }
  }
}

/** 0 to 99. The handler in sh computes the same. */
function chance(seed, n, attempt) {
  const x = (n * 7919 + attempt * 5003 + seed * 31) % 10007
  return (x ** 3 % 10007) % 100
}
