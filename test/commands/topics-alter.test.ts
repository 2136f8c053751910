import { describe, expect, it } from 'vitest'
import { json } from '../helpers/dead-letters.ts'
import { joinGroup } from '../helpers/member.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'

/** Keys and the queue that Java's rule gives them: the hash codes of single letters are their ASCII codes. */
const KEYS = ['a', 'b', 'c', 'd'] // 97, 98, 99, 100: of 2 queues 1, 0, 1, 0; of 3 queues 1, 2, 0, 1

async function withKeys() {
  const one = shop()
  await seed(
    one.db,
    't',
    2,
    KEYS.map((key) => ({ key, body: `of ${key}` })),
  )
  return one
}

describe('topics alter', () => {
  it('--plan tells which keys move, what must drain, and changes nothing', async () => {
    const { db, run } = await withKeys()
    await run(['consume', 't', '-g', 'g', '--orderly', '-c', '1'])
    const plan = await json(run(['topics', 'alter', 't', '--queues', '3', '--plan', '--json']))
    expect(plan).toMatchObject({
      topic: 't',
      fromQueues: 2,
      toQueues: 3,
      sampled: 4,
      keys: 4,
      moves: [
        { key: 'b', from: 0, to: 2 },
        { key: 'c', from: 1, to: 0 },
        { key: 'd', from: 0, to: 1 },
      ],
      dropped: [],
    })
    const [drain] = plan.drains
    expect(drain.group).toBe('g')
    expect(drain.queues.reduce((sum: number, { lag }: { lag: number }) => sum + lag, 0)).toBe(3)
    const text = await run(['topics', 'alter', 't', '--queues', '1', '--plan'])
    expect(text.stdout).toContain('dropped\t1\n')
    // a and c lie in queue 1 and would move to 0.
    expect(text.stdout).toContain('keys that move\t2 of 4\n')
    expect(text.stdout).toContain('a\t1\t0\nc\t1\t0\n')
    expect(await withBroker(db, (broker) => broker.topicConfig('t'))).toMatchObject({ queues: 2 })
  })

  it('asks first, changes what was said, and tells how to look at it', async () => {
    const { run } = await withKeys()
    const unasked = await run(['topics', 'alter', 't', '--queues', '3'])
    expect(unasked).toMatchObject({ status: 2, stdout: '' })
    expect(unasked.stderr).toContain('--yes')
    const dry = await run(['topics', 'alter', 't', '--queues', '3', '--perm', 'r', '--dry-run', '--json'])
    expect(JSON.parse(dry.stdout)).toMatchObject({ queues: 3, perm: 4, dryRun: true })
    const args = ['--queues', '3', '--retention', '7d', '--perm', 'r', '--max-body', '1KiB']
    const altered = await json(run(['topics', 'alter', 't', ...args, '--yes', '--json']))
    expect(altered).toMatchObject({
      topic: 't',
      queues: 3,
      retention: '7d',
      perm: 4,
      maxBody: 1024,
      dryRun: false,
      changes: [
        { setting: 'queues', old: 2, new: 3 },
        { setting: 'retention', old: null, new: '7d' },
        { setting: 'maxBody', old: 4 * 1024 * 1024, new: 1024 },
        { setting: 'perm', old: 6, new: 4 },
      ],
    })
    const again = await run(['topics', 'alter', 't', ...args, '-y'])
    expect(again).toMatchObject({ status: 0, stdout: '' })
    expect(again.stderr).toContain('nothing was changed')
    const refused = await run(['send', 't', 'x'])
    expect(refused.status).toBe(4)
    expect(refused.stderr).toContain('TOPIC_READ_ONLY')
    const text = await run(['topics', 'alter', 't', '--retention', 'none', '-y'])
    expect(text.stdout).toBe('retention\t7d\tnone\n')
    expect(text.stderr).toContain('rmq topics describe t')
  })

  it.each([
    ['nothing to change', [], 2],
    ['no queues', ['--queues', '0'], 2],
    ['a permission nobody knows', ['--perm', '8'], 2],
    ['a retention of nothing', ['--retention', '0s'], 2],
    ['a plan of no number', ['--plan'], 2],
    ['a plan that is to be made', ['--queues', '3', '--plan', '-y'], 2],
    ['a dry run and a yes', ['--queues', '3', '--dry-run', '-y'], 2],
  ])('refuses %s', async (_, args, status) => {
    const { db, run } = await withKeys()
    expect((await run(['topics', 'alter', 't', ...args])).status).toBe(status)
    expect(await withBroker(db, (broker) => broker.topicConfig('t'))).toMatchObject({ queues: 2, perm: 6 })
  })

  it('names the topic that was probably meant', async () => {
    const { run } = await withKeys()
    expect((await run(['topics', 'alter', 'T', '--queues', '3', '-y'])).status).toBe(3)
  })
})

describe('a topic whose number of queues was changed', () => {
  it('is described with its barrier, who is held up, and dropped queues, until all is drained', async () => {
    const { run } = await withKeys()
    await run(['consume', 't', '-g', 'g', '--orderly', '-c', '1'])
    await run(['topics', 'alter', 't', '--queues', '1', '-y'])
    await run(['send', 't', 'late', '--key', 'a'])
    const described = await json(run(['topics', 'describe', 't', '--json']))
    expect(described.queueStats).toEqual([
      { queueId: 0, minOffset: 0, maxOffset: 3, scheduled: 0, dropped: false },
      { queueId: 1, minOffset: 0, maxOffset: 2, scheduled: 0, dropped: true },
    ])
    const { barrier } = described
    expect(barrier).toMatchObject({ fromQueues: 2, toQueues: 1, later: 0, heldUpBy: [{ group: 'g' }] })
    const text = await run(['topics', 'describe', 't'])
    expect(text.stdout).toContain('barrier\t2 to 1 queues, holds 1 group\n')
    expect(text.stdout).toContain('1\t0\t2\t2\t0\tdropped\n')
    for (const { queueId, committedOffset, offset } of barrier.heldUpBy[0].queues) {
      expect(text.stdout).toContain(`g\t${queueId}\t${committedOffset}\t${offset}\n`)
    }
    const rest = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%s\\n'])
    expect(rest.status).toBe(0)
    const bodies = rest.stdout.trim().split('\n')
    expect(bodies).toHaveLength(4)
    expect(bodies.at(-1)).toBe('late')
    expect(await json(run(['topics', 'describe', 't', '--json']))).toMatchObject({ barrier: null })
    expect((await run(['verify'])).status).toBe(0)
  })
})

describe('topics delete', () => {
  it('shows what goes, wants the name once more, and deletes', async () => {
    const { run } = await withKeys()
    await run(['consume', 't', '-g', 'g', '--orderly', '-c', '1'])
    const dry = await json(run(['topics', 'delete', 't', '--dry-run', '--json']))
    expect(dry).toEqual({ topic: 't', queues: 2, messages: 4, scheduled: 0, groups: ['g'], dryRun: true })
    expect((await run(['topics', 'delete', 't'])).status).toBe(2)
    const wrong = await run(['topics', 'delete', 't', '--confirm', 'u'])
    expect(wrong.status).toBe(2)
    expect((await run(['topics', 'describe', 't'])).status).toBe(0)
    const deleted = await run(['topics', 'delete', 't', '--confirm', 't'])
    expect(deleted).toMatchObject({
      status: 0,
      stdout: 'topic\tt\nqueues\t2\nmessages\t4\nscheduled\t0\ngroups\tg\n',
    })
    expect(deleted.stderr).toContain('deleted topic t with 4 messages in 2 queues and the offsets of 1 group')
    expect((await run(['topics', 'describe', 't'])).status).toBe(3)
    expect((await run(['topics', 'delete', 't', '--confirm', 't'])).status).toBe(3)
  })

  it('is refused while members consume the topic', async () => {
    const { db, run } = await withKeys()
    await withBroker(db, async (broker) => {
      await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
      const refused = await run(['topics', 'delete', 't', '--confirm', 't', '--json'])
      expect(refused.status).toBe(4)
      expect(JSON.parse(refused.stdout).error).toMatchObject({
        code: 'GROUP_ACTIVE',
        details: { groups: [{ group: 'g', members: ['c'] }] },
      })
    })
  })
})

it('topics create takes a hash rule and a retention', async () => {
  const { run } = shop()
  const args = ['topics', 'create', 't', '--hash', 'jump', '--retention', '36h']
  expect(await json(run([...args, '--json']))).toMatchObject({
    hash: 'jump',
    retention: '36h',
    created: true,
  })
  const again = await run(['topics', 'create', 't', '--retention', 'none', '--if-not-exists'])
  expect(again.status).toBe(0)
  expect(again.stderr).toContain('has retention 36h, not none')
})
