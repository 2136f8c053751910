import { expect, it } from 'vitest'
import { json, rows, withDeadLetters } from '../helpers/dead-letters.ts'
import { joinGroup } from '../helpers/member.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'

type Shop = ReturnType<typeof shop>

const config = ({ db }: Shop, group = 'g') => withBroker(db, (broker) => broker.groupConfig(group))

/** Each of these is refused, with that exit code and complaint. */
async function refuses({ run }: Shop, cases: readonly [args: readonly string[], status: number, RegExp][]) {
  const results = await Promise.all(cases.map(([args]) => run(['groups', ...args])))
  for (const [i, { status, stdout, stderr }] of results.entries()) {
    const [args, code, complaint] = cases[i] ?? []
    expect([args, status, stdout, stderr]).toEqual([args, code, '', expect.stringMatching(complaint ?? '')])
  }
}

it('creates a group with the settings that were said', async () => {
  const one = shop()
  const settings = ['--max-reconsume', '5', '--suspend', '2s', '--no-consume-enable', '--trace']
  const result = await one.run(['groups', 'create', 'g', ...settings, '--json'])
  expect(result.status).toBe(0)
  const created = { group: 'g', maxReconsume: 5, suspendMs: 2000, consumeEnable: false, trace: true }
  expect(JSON.parse(result.stdout)).toEqual({ ...created, createdAt: expect.any(String), created: true })
  expect(await config(one)).toMatchObject({ maxReconsumeTimes: 5, suspendMs: 2000, consumeEnable: false })
  const plain = await one.run(['group', 'create', 'h'])
  expect(rows(plain.stdout)).toEqual([
    ['group', 'h'],
    ['max reconsume', 'default'],
    ['suspend', '1s'],
    ['consume enabled', 'true'],
    ['trace', 'false'],
  ])
})

it('does not create a group twice, and says what differs where that is no error', async () => {
  const one = shop()
  await one.run(['groups', 'create', 'g', '--max-reconsume', '5'])
  await refuses(one, [[['create', 'g'], 4, /GROUP_EXISTS[\s\S]*--if-not-exists/]])
  const again = await one.run(['groups', 'create', 'g', '--max-reconsume', '6', '--if-not-exists', '--json'])
  expect([again.status, JSON.parse(again.stdout)]).toMatchObject([0, { maxReconsume: 5, created: false }])
  expect(again.stderr).toMatch(/warning: group g has maxReconsume 5, not 6/)
})

it('refuses bad names and settings, and creates nothing', async () => {
  const one = shop()
  await refuses(one, [
    [['create', 'a b'], 2, /INVALID_NAME/],
    [['create', 'CID_RMQ_SYS_x'], 2, /INVALID_NAME/],
    [['create', 'g', '--max-reconsume', '-2'], 2, /max-reconsume/],
    [['create', 'g', '--suspend', '5'], 2, /its unit is missing/],
  ])
  await refuses(one, [
    [['create', 'g', '--suspend', '2d'], 2, /0 to 86400000/],
    [['create', 'g', '--trace', '--no-trace'], 2, /no-trace/],
    [['create', 'g', '--consume-enable', '--no-consume-enable'], 2, /consume-enable/],
    [['create'], 2, /NAME is missing/],
  ])
  expect(await json(one.run(['groups', 'list', '--json']))).toEqual({ groups: [] })
})

it('alters what was said, after a look at it', async () => {
  const one = shop()
  await one.run(['groups', 'create', 'g', '--suspend', '2s'])
  const alter = ['groups', 'alter', 'g', '--max-reconsume', '3', '--trace']
  const dry = await one.run([...alter, '--dry-run'])
  expect(rows(dry.stdout)).toEqual([
    ['max reconsume', 'default', '3'],
    ['trace', 'false', 'true'],
  ])
  await refuses(one, [[alter.slice(1), 2, /--yes/]])
  expect(await config(one)).toMatchObject({ maxReconsumeTimes: -1, trace: false })
  const real = await one.run([...alter, '-y', '--json'])
  expect(JSON.parse(real.stdout)).toMatchObject({
    group: 'g',
    maxReconsume: 3,
    suspendMs: 2000,
    trace: true,
    changes: [
      { setting: 'maxReconsume', old: -1, new: 3 },
      { setting: 'trace', old: false, new: true },
    ],
    dryRun: false,
  })
  expect(await config(one)).toMatchObject({ maxReconsumeTimes: 3, suspendMs: 2000, trace: true })
  const back = await one.run(['groups', 'alter', 'g', '--no-trace', '--max-reconsume=-1', '-y'])
  expect(back.status).toBe(0)
  expect(await config(one)).toMatchObject({ maxReconsumeTimes: -1, trace: false })
  // Nothing to change needs no confirmation.
  const same = await one.run(['groups', 'alter', 'g', '--no-trace'])
  expect([same.status, same.stdout, same.stderr]).toEqual([
    0,
    '',
    expect.stringMatching(/nothing was changed/),
  ])
})

it('says what it cannot alter', async () => {
  const one = shop()
  await one.run(['groups', 'create', 'mailer'])
  await refuses(one, [
    [['alter', 'mailer'], 2, /nothing says what to change/],
    [['alter', 'mailr', '--trace', '-y'], 3, /did you mean mailer\?/],
    [['alter', 'mailer', '--trace', '-y', '--dry-run'], 2, /exclude each other/],
    [['alter', 'mailer', '--suspend', 'x', '-y'], 2, /is not a duration/],
  ])
})

it('tells that running members keep the settings they started with', async () => {
  const one = shop()
  await seed(one.db, 't', 1, [])
  await withBroker(one.db, async (broker) => {
    await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    const result = await one.run(['groups', 'alter', 'g', '--max-reconsume', '3', '-y'])
    expect(result.stderr).toMatch(/1 running member will see it after a restart/)
  })
})

it('deletes a group with its offsets and dead letters, when its name was said twice', async () => {
  const one = await withDeadLetters(['bad', 'good'])
  await refuses(one, [
    [['delete', 'g'], 2, /delete group g with 1 offset and 1 dead letter[\s\S]*--confirm g/],
    [['delete', 'g', '--confirm', 'G'], 2, /--confirm G is not g/],
    [['delete', 'gg', '--confirm', 'gg'], 3, /did you mean g\?/],
    [['delete', 'g', '--confirm', 'g', '--dry-run'], 2, /dry-run/],
  ])
  const holdings = { group: 'g', topics: ['t'], offsets: 1, deadLetters: 1 }
  expect(await json(one.run(['groups', 'delete', 'g', '--dry-run', '--json']))).toEqual({
    ...holdings,
    dryRun: true,
  })
  expect(await config(one)).toBeDefined()
  const result = await one.run(['groups', 'delete', 'g', '--confirm', 'g', '--json'])
  expect([result.status, JSON.parse(result.stdout)]).toEqual([0, { ...holdings, dryRun: false }])
  expect(await config(one)).toBeUndefined()
  // The messages stay: a group of that name begins anew.
  const anew = await one.run(['consume', 't', '-g', 'g', '--orderly', '-e'])
  expect(anew.stdout).toBe('bad\ngood\n')
})

it('shows a disabled group as that', async () => {
  const one = shop()
  await one.run(['groups', 'create', 'g', '--trace', '--suspend', '2s'])
  await one.run(['groups', 'alter', 'g', '--no-consume-enable', '-y'])
  const shown = { group: 'g', suspendMs: 2000, consumeEnable: false, trace: true, state: 'disabled' }
  expect((await json(one.run(['groups', 'list', '--json']))).groups).toMatchObject([shown])
  expect(await json(one.run(['groups', 'describe', 'g', '--json']))).toMatchObject(shown)
  const facts = rows((await one.run(['groups', 'describe', 'g'])).stdout)
  expect(facts).toEqual(
    expect.arrayContaining([
      ['state', 'disabled'],
      ['consume enabled', 'false'],
      ['trace', 'true'],
    ]),
  )
})

it('does not delete a group whose members live, and names them', async () => {
  const one = shop()
  await seed(one.db, 't', 1, [])
  await withBroker(one.db, async (broker) => {
    await joinGroup(broker, { group: 'g', clientId: 'busy', topic: 't' })
    const result = await one.run(['groups', 'delete', 'g', '--confirm', 'g', '--json'])
    expect([result.status, JSON.parse(result.stdout).error]).toMatchObject([
      4,
      {
        code: 'GROUP_ACTIVE',
        why: expect.stringMatching(/^1 member lives: busy \(/),
        hint: 'stop them first',
        details: { members: [{ clientId: 'busy', pid: process.pid }] },
      },
    ])
  })
})
