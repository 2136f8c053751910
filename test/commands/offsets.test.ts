import { expect, it } from 'vitest'
import { json, rows } from '../helpers/dead-letters.ts'
import { joinGroup } from '../helpers/member.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'

/** Two queues with `sizes` messages; group `g` is at `committed` in them. */
async function groupAt(sizes: readonly number[], committed: readonly number[]) {
  const one = shop()
  const messages = sizes.flatMap((size, queueId) =>
    Array.from({ length: size }, (_, i) => ({ body: `q${queueId}m${i}`, queueId })),
  )
  await seed(one.db, 't', sizes.length, messages)
  await withBroker(one.db, async (broker) => {
    const grants = await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    const commits = grants.map((grant, i) => {
      if (!grant.granted) throw new Error('not granted')
      return { mq: grant.mq, epoch: grant.epoch, offset: committed[i] ?? 0 }
    })
    expect(await broker.commitOffsets('g', 'c', commits)).toEqual(commits.map(() => true))
    await broker.unlockBatch('g', 'c', await broker.subscribeQueues('t'))
  })
  return one
}

const at = async ({ run }: ReturnType<typeof shop>, group = 'g') =>
  (await json(run(['offsets', 'list', '-g', group, '--json']))).offsets.map(
    ({ committedOffset }: { committedOffset: number | null }) => committedOffset,
  )

it.each([
  ['earliest', [0, 0]],
  ['-3', [7, 1]],
  ['@-1h', [0, 0]],
])('resets to %s exactly as the dry run shows, which changes nothing', async (to, expected) => {
  const one = await groupAt([10, 4], [6, 2])
  const before = (await one.run(['offsets', 'list', '-g', 'g'])).stdout
  const reset = ['offsets', 'reset', '-g', 'g', `--to=${to}`]
  const dry = await one.run([...reset, '--dry-run', '--json'])
  expect(dry.status).toBe(0)
  expect((await one.run(['offsets', 'list', '-g', 'g'])).stdout).toBe(before)
  const real = await one.run([...reset, '-y', '--json'])
  expect(real.status).toBe(0)
  const shown = JSON.parse(dry.stdout)
  expect(JSON.parse(real.stdout)).toEqual({ ...shown, dryRun: false })
  expect(shown).toEqual({
    reset: [6, 2].map((old, i) => {
      const to = expected[i] ?? 0
      const counts = { replayed: Math.max(0, old - to), skipped: Math.max(0, to - old) }
      return { topic: 't', queueId: i, old, new: to, ...counts }
    }),
    dryRun: true,
  })
  expect(await at(one)).toEqual(expected)
})

it('moves one queue alone, and prints a line a queue', async () => {
  const one = await groupAt([10, 4], [6, 2])
  const result = await one.run(['offsets', 'reset', '-g', 'g', '-p', '1', '--to', '0', '--yes'])
  expect(rows(result.stdout)).toEqual([['t', '1', '2', '0', '2', '0']])
  expect(result.stderr).toContain('rmq offsets list -g g')
  expect(await at(one)).toEqual([6, 0])
})

it('refuses places and queues that there are not, and moves nothing', async () => {
  const one = await groupAt([10, 4], [6, 2])
  const refused = async (args: readonly string[], status: number, complaint: RegExp) => {
    const result = await one.run(['offsets', 'reset', '-g', 'g', '-y', ...args])
    expect([args, result.status, result.stdout]).toEqual([args, status, ''])
    expect(result.stderr).toMatch(complaint)
  }
  await Promise.all([
    refused(['--to', '101'], 2, /outside of queue 0 of t[\s\S]*its offsets are 0 to 10/),
    refused(['--to', '5'], 2, /outside of queue 1 of t[\s\S]*0 to 4/),
    refused(['--to', '9007199254740993'], 2, /is not an offset/),
    refused(['--to', '2:5'], 2, /is a range/),
  ])
  await Promise.all([
    refused(['--to', 'earliest', '-p', '2'], 3, /has no queue 2[\s\S]*0 to 1/),
    refused(['--to', 'earliest', '-p', '-1'], 2, /--queue/),
    refused(['--to', 'earliest', '--topic', 'nosuch'], 3, /topic nosuch does not exist/),
    refused(['--to', 'earliest', '--dry-run'], 2, /exclude each other/),
  ])
  expect(await at(one)).toEqual([6, 2])
})

it('wants its group said, a confirmation, and a group that there is', async () => {
  const one = await groupAt([10, 4], [6, 2])
  const reset = ['offsets', 'reset', '--to', 'earliest']
  const unsaid = await one.run([...reset, '-y'], { env: { RMQ_GROUP: 'g' } })
  expect([unsaid.status, unsaid.stderr]).toEqual([2, expect.stringMatching(/group/)])
  const unconfirmed = await one.run([...reset, '-g', 'g'])
  expect([unconfirmed.status, unconfirmed.stderr]).toEqual([2, expect.stringMatching(/--yes/)])
  const misspelt = await one.run([...reset, '-g', 'gg', '-y'])
  expect([misspelt.status, misspelt.stderr]).toEqual([3, expect.stringMatching(/did you mean g\?/)])
  expect(await at(one)).toEqual([6, 2])
})

it('asks for the topic where a queue number says too little', async () => {
  const one = await groupAt([3], [2])
  await seed(one.db, 'u', 1, [{ body: 'x' }])
  await withBroker(one.db, (broker) =>
    broker.admin.resetOffsets('g', [{ mq: { topic: 'u', brokerName: 'embedded', queueId: 0 }, offset: 1 }], {
      force: false,
    }),
  )
  const reset = ['offsets', 'reset', '-g', 'g', '-p', '0', '--to', 'earliest', '-y']
  const vague = await one.run(reset)
  expect([vague.status, vague.stderr]).toEqual([2, expect.stringMatching(/t, u[\s\S]*--topic/)])
  expect(rows((await one.run([...reset, '--topic', 'u'])).stdout)).toEqual([['u', '0', '1', '0', '1', '0']])
})

it('starts a group on a topic that it has never consumed', async () => {
  const one = await groupAt([3], [2])
  await seed(one.db, 'u', 1, [{ body: 'x' }, { body: 'y' }])
  const result = await one.run([
    'offsets',
    'reset',
    '-g',
    'g',
    '--topic',
    'u',
    '--to',
    'latest',
    '-y',
    '--json',
  ])
  expect(JSON.parse(result.stdout).reset).toEqual([
    { topic: 'u', queueId: 0, old: null, new: 2, replayed: 0, skipped: 2 },
  ])
})

it('is refused while members live, before anybody is asked', async () => {
  const one = await groupAt([10, 4], [6, 2])
  await withBroker(one.db, async (broker) => {
    await joinGroup(broker, { group: 'g', clientId: 'busy', topic: 't' })
    const result = await one.run(['offsets', 'reset', '-g', 'g', '--to', 'earliest', '--json'])
    expect(result.status).toBe(4)
    expect(JSON.parse(result.stdout).error).toMatchObject({
      code: 'GROUP_ACTIVE',
      why: `1 member lives: busy (${process.pid}@${(await broker.members('g'))[0]?.process.host})`,
      exitCode: 4,
    })
    expect(await at(one)).toEqual([6, 2])
    const forced = await one.run(['offsets', 'reset', '-g', 'g', '--to', 'earliest', '--force', '-y'])
    expect(forced.status).toBe(0)
    expect(await at(one)).toEqual([0, 0])
    expect(await broker.listLocks({ group: 'g' })).toEqual([])
  })
})

it('clones committed offsets into a group that it makes, and does not ask', async () => {
  const one = await groupAt([10, 4], [6, 2])
  const dry = await one.run(['offsets', 'clone', 'g', 'h', '--dry-run', '--json'])
  expect(JSON.parse(dry.stdout)).toEqual({
    reset: [
      { topic: 't', queueId: 0, old: null, new: 6, replayed: 0, skipped: 6 },
      { topic: 't', queueId: 1, old: null, new: 2, replayed: 0, skipped: 2 },
    ],
    dryRun: true,
  })
  expect((await json(one.run(['groups', 'list', '--json']))).groups).toHaveLength(1)
  const real = await one.run(['offsets', 'clone', 'g', 'h'])
  expect(rows(real.stdout)).toEqual([
    ['t', '0', '-', '6', '0', '6'],
    ['t', '1', '-', '2', '0', '2'],
  ])
  expect(await at(one, 'h')).toEqual([6, 2])
  expect(await at(one)).toEqual([6, 2])
})

it('clones over offsets that there are only when it is told to', async () => {
  const one = await groupAt([10, 4], [6, 2])
  await one.run(['offsets', 'clone', 'g', 'h'])
  await one.run(['offsets', 'reset', '-g', 'h', '--to', 'latest', '-y'])
  const asked = await one.run(['offsets', 'clone', 'g', 'h'])
  expect([asked.status, asked.stderr]).toEqual([2, expect.stringMatching(/--yes/)])
  expect(await at(one, 'h')).toEqual([10, 4])
  const told = await one.run(['offsets', 'clone', 'g', 'h', '--topic', 't', '-y', '--json'])
  expect(JSON.parse(told.stdout).reset).toMatchObject([
    { old: 10, new: 6, replayed: 4 },
    { old: 4, new: 2, replayed: 2 },
  ])
})

it('refuses groups and topics that cannot be cloned', async () => {
  const one = await groupAt([3], [2])
  const refused = async (args: readonly string[], status: number, complaint: RegExp) => {
    const result = await one.run(['offsets', 'clone', ...args, '-y'])
    expect([args, result.status, result.stderr]).toEqual([args, status, expect.stringMatching(complaint)])
  }
  await Promise.all([
    refused(['g', 'g'], 2, /its own offsets/),
    refused(['nosuch', 'h'], 3, /group nosuch does not exist/),
    refused(['g', 'a b'], 2, /name "a b" is not allowed/),
    refused(['g', 'h', '--topic', 'nosuch'], 3, /topic nosuch does not exist/),
  ])
  expect((await json(one.run(['groups', 'list', '--json']))).groups).toHaveLength(1)
})

it('does not clone into a group whose members live', async () => {
  const one = await groupAt([3], [2])
  await withBroker(one.db, async (broker) => {
    await joinGroup(broker, { group: 'h', clientId: 'busy', topic: 't' })
    const result = await one.run(['offsets', 'clone', 'g', 'h', '-y'])
    expect([result.status, result.stderr]).toEqual([4, expect.stringMatching(/1 member lives: busy/)])
    expect((await one.run(['offsets', 'clone', 'g', 'h', '-y', '--force'])).status).toBe(0)
  })
})
