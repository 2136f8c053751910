import { expect, it } from 'vitest'
import { RunningRmq, startConsumer, untilMembers } from '../helpers/consumer.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'

it.each<[string, readonly string[], RegExp, RegExp]>([
  ['mode', [], /orderly[\s\S]*concurrent/, /as a concurrent consumer/],
  ['expression', ['--orderly', '--tag', 'paid'], /"\*"[\s\S]*"paid"/, /with TAG "paid" on t/],
  ['model', ['--orderly', '--broadcast'], /clustering[\s\S]*broadcasting/, /as a broadcasting consumer/],
  ['strategy', ['--orderly', '--allocate', 'circle'], /averagely[\s\S]*circle/, /with the strategy circle/],
])('a consumer with another %s is refused, and both processes say so', async (_what, args, why, wanted) => {
  const { db, run } = shop()
  await seed(db, 't', 2, [{ body: 'm' }])
  const member = startConsumer(db, 't', '--client-id', 'first')
  await withBroker(db, (broker) => untilMembers(broker, ['first']))
  const refused = await run(['consume', 't', '-g', 'g', '--client-id', 'second', ...args])
  expect(refused.status).toBe(4)
  expect(refused.stderr).toMatch(/GROUP_CONFLICT/)
  expect(refused.stderr).toMatch(why)
  expect(refused.stderr).toMatch(/member first \(\d+@/)
  await member.says(/consumer second \(\d+@\S+\) wanted to join group g .*, and was refused/)
  expect(member.stderr).toMatch(wanted)
  // Once, and it goes on.
  await run(['send', 't', 'more'])
  await member.prints('more')
  expect(member.stderr.match(/was refused/g)).toHaveLength(1)
  member.signal('SIGTERM')
  expect(await member.ended).toEqual([0, null])
})

it('a member of another group hears nothing', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, [{ body: 'm' }])
  const member = startConsumer(db, 't', '--client-id', 'first')
  const other = new RunningRmq(db, ['consume', 't', '-g', 'h', '--client-id', 'other'])
  await withBroker(db, (broker) => untilMembers(broker, ['first']))
  await other.prints('m')
  expect((await run(['consume', 't', '-g', 'g'])).status).toBe(4)
  await member.says(/was refused/)
  await run(['send', 't', 'more'])
  await other.prints('more')
  expect(other.stderr).not.toContain('refused')
})
