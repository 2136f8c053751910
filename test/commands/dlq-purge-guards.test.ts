import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { PATIENCE } from '../helpers/consumer.ts'
import { json, rows, withDeadLetters } from '../helpers/dead-letters.ts'
import { cleanEnv, RUN } from '../helpers/rmq.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { buryAll } from '../helpers/undertaker.ts'

const PURGE = ['dlq', 'purge', '-g', 'g']
const confirmed = [...PURGE, '--confirm', 'g']

describe('dlq purge', () => {
  it('asks for the name of the group, and changes nothing without it', async () => {
    const { run } = await withDeadLetters(['a', 'b'])
    for (const args of [PURGE, [...PURGE, '--confirm', 'h'], ['dlq', 'purge', '--confirm', 'g']]) {
      const refused = await run(args, { env: { RMQ_GROUP: 'g' } })
      expect([args, refused.status]).toEqual([args, 2])
    }
    expect((await run(PURGE)).stderr).toMatch(/purge 2 dead letters of group g.*[\s\S]*--confirm g/)
    const refused = await json(run([...PURGE, '--json']))
    expect(refused.error).toMatchObject({ code: 'CONFIRMATION_REQUIRED', details: { flag: '--confirm g' } })
    expect((await json(run(['dlq', 'list', '-g', 'g', '--json']))).deadLetters).toHaveLength(2)
  })

  it('shows in a dry run what it would delete, and deletes nothing', async () => {
    const { run } = await withDeadLetters(['a', 'b', 'c'])
    const dry = await run([...PURGE, '--key', 'k0', '--dry-run'])
    expect([dry.status, rows(dry.stdout).map((row) => row.at(-1))]).toEqual([
      0,
      ['cannot do a', 'cannot do c'],
    ])
    expect(dry.stderr).toMatch(/nothing was changed; it would purge 2 dead letters/)
    expect(await json(run([...PURGE, '--key', 'k0', '--dry-run', '--json']))).toEqual({
      ...{ group: 'g', purged: 2, left: 0, remaining: 1, dryRun: true },
    })
    expect((await run([...confirmed, '--dry-run'])).status).toBe(2)
    expect((await json(run(['dlq', 'list', '-g', 'g', '--json']))).deadLetters).toHaveLength(3)
  })

  it('asks at a terminal, and spares what dies while a person thinks about it', async () => {
    const { db, run } = await withDeadLetters(['a', 'b'])
    await seed(db, 'u', 1, [{ body: 'late' }])
    const command = [process.execPath, RUN, ...PURGE, '--color', 'never'].map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['-qec', `stty -echo; ${command}`, '/dev/null'], {
      env: cleanEnv({ db, env: { TERM: 'xterm' } }),
    })
    let screen = ''
    child.stdout.on('data', (chunk) => {
      screen += chunk
    })
    const ended = once(child, 'close')
    await expect.poll(() => screen, PATIENCE).toMatch(/Purge 2 dead letters of group g\? Type g to go on/)
    await withBroker(db, (broker) => buryAll(broker, 'u'))
    child.stdin.write('g\n')
    expect((await ended)[0]).toBe(0)
    expect(screen).toMatch(/purged 2 dead letters/)
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    expect(deadLetters.map(({ body }: { body: string }) => body)).toEqual(['late'])
  })

  it('tells a group without dead letters, one that never had any, and one that is unknown', async () => {
    const { run } = await withDeadLetters(['good'])
    const none = { group: 'g', purged: 0, left: 0, remaining: 0 }
    expect(await json(run([...confirmed, '--json']))).toEqual({ ...none, dryRun: false })
    expect(await json(run([...PURGE, '--dry-run', '--json']))).toEqual({ ...none, dryRun: true })
    for (const command of [['purge', '--confirm', 'nope'], ['purge', '--dry-run'], ['export']]) {
      const unknown = await run(['dlq', ...command, '-g', 'nope', '--json'])
      expect([unknown.status, JSON.parse(unknown.stdout).error.code]).toEqual([3, 'GROUP_NOT_FOUND'])
    }
    const exported = await run(['dlq', 'export', '-g', 'g', '--json'])
    expect([exported.status, exported.stdout]).toEqual([0, ''])
    const bad = await run([...confirmed, '--error-match', '['])
    expect([bad.status, bad.stderr]).toEqual([2, expect.stringContaining('no regular expression')])
  })
})
