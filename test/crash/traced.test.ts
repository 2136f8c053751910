import { expect, it } from 'vitest'
import { RunningRmq } from '../helpers/consumer.ts'
import { json } from '../helpers/dead-letters.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const MESSAGES = 150

it.each<[string, readonly string[]]>([
  ['in order', ['--orderly']],
  ['by keys', ['--orderly', '--per-key', '8']],
  ['in no order', []],
])(
  'the journal of members that are killed shows nothing wrong: %s',
  async (_how, args) => {
    const { db, run } = shop()
    const messages = Array.from({ length: MESSAGES }, (_, i) => ({ body: `${i}`, key: `k${i % 20}` }))
    await seed(db, 't', 2, messages)
    // Some fail at their first attempt.
    const script = `
    import { createInterface } from 'node:readline'
    for await (const line of createInterface({ input: process.stdin })) {
      const { msgId, queueOffset, reconsumeTimes } = JSON.parse(line)
      await new Promise((resolve) => setTimeout(resolve, 5))
      const status = queueOffset % 10 === 0 && reconsumeTimes === 0 ? 'retry' : 'success'
      console.log(JSON.stringify({ id: msgId, status, suspendMs: 10 }))
    }`
    const pipe = `'${process.execPath}' --input-type=module -e '${script.replaceAll("'", `'\\''`)}'`
    const consume = ['consume', 't', '-g', 'g', '--trace', '--pipe', pipe, '--suspend', '10ms', ...args]
    for (let kills = 0; kills < 2; kills++) {
      const member = new RunningRmq(db, consume)
      await expect
        .poll(async () => (await json(run(['verify', '--json']))).checked.deliveries, { timeout: 20_000 })
        .toBeGreaterThan(20 + 40 * kills)
      member.signal('SIGKILL')
      await member.ended
      expect((await json(run(['verify', '--json']))).violations).toEqual([])
    }
    expect((await run([...consume, '-e'])).status).toBe(0)
    const { violations, checked } = await json(run(['verify', '--json']))
    expect(violations).toEqual([])
    expect(checked.deliveries).toBeGreaterThan(MESSAGES)
  },
  60_000,
)
