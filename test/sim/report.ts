import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Outcome } from './simulation.ts'

/** What to print of a schedule that failed: how to repeat it, what broke, and what led to it. */
export function report({ seed, broken, events, hash, steps }: Outcome): string {
  const [first = '', ...rest] = (broken?.message ?? 'nothing broke').split('\n')
  return [
    `seed ${seed}: ${first}`,
    ...rest,
    `the last ${events.length} of ${steps} events (trace ${hash}):`,
    ...events,
    `repeat it: RMQ_SEED=${seed} npx vitest run test/sim`,
  ].join('\n')
}

/** In memory where there is such a place: a schedule needs its file for a fraction of a second. */
export function scratchFolder(): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'rmq-sim-'))
}
