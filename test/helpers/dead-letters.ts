import { expect } from 'vitest'
import { shop } from './shop.ts'
import { seed } from './store.ts'

type Shop = ReturnType<typeof shop>

/** Dead-letters every message of the topic whose body is not `good`. */
export async function bury({ run }: Shop, topic: string, group = 'g') {
  const handler = 'read b; case $b in good) ;; *) echo "cannot do $b" >&2; exit 65;; esac'
  const result = await run(['consume', topic, '-g', group, '--orderly', '-e', '--exec', handler])
  expect(result.status).toBe(0)
}

/** A group `g` that has dead-lettered all of these bodies but `good`. */
export async function withDeadLetters(bodies: readonly string[]) {
  const one = shop()
  await seed(
    one.db,
    't',
    1,
    bodies.map((body, i) => ({
      body,
      key: `k${i % 2}`,
      tags: i === 0 ? 'first' : 'other',
      properties: { trace: '订单', empty: '' },
    })),
  )
  await bury(one, 't')
  return one
}

/** What a command prints with `--json`. */
export const json = async (result: Promise<{ readonly stdout: string }>) => JSON.parse((await result).stdout)
/** Each line of a table in a pipe as its fields. */
export const rows = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
