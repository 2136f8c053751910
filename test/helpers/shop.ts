import { type RmqOptions, type RmqResult, rmq } from './rmq.ts'
import { tempDb } from './temp.ts'

/** A database of this test's own, and ways to use it. */
export function shop() {
  const db = tempDb()
  const run = (args: readonly string[], options: RmqOptions = {}): Promise<RmqResult> =>
    rmq(args, { db, ...options })
  /** All messages of a topic as records, queue by queue. */
  const records = async (topic: string) =>
    parseLines((await run(['peek', topic, '-c', '0', '--json'])).stdout)
  return { db, run, records }
}

/** NDJSON as values. */
export function parseLines(text: string) {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
