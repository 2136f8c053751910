import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { joinGroup } from '../helpers/member.ts'
import { cleanEnv, RUN, rmq } from '../helpers/rmq.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

/** Runs rmq with a pseudo terminal on all three streams, made by script(1); `typed` is what a person types. */
async function onTerminal(
  db: string,
  args: readonly string[],
  { typed = '', columns = 100, env = {} as Record<string, string> } = {},
): Promise<{ readonly status: unknown; readonly screen: string }> {
  const quoted = [process.execPath, RUN, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', `stty cols ${columns} -echo; ${quoted}`, '/dev/null'], {
    env: cleanEnv({ db, env: { TERM: 'xterm', ...env } }),
  })
  const screen: Buffer[] = []
  child.stdout.on('data', (chunk) => {
    screen.push(chunk)
    // Typed when the question is there, as a person would.
    if (typed !== '' && String(chunk).includes('[y/N]')) child.stdin.write(typed)
  })
  const [status] = await once(child, 'close')
  return { status, screen: Buffer.concat(screen).toString().replaceAll('\r\n', '\n') }
}

describe('on a terminal', () => {
  it('shows a table with a header, colours and relative times', async () => {
    const db = tempDb()
    await seed(db, 'orders', 2, [])
    const { status, screen } = await onTerminal(db, ['topics', 'list'])
    expect(status).toBe(0)
    expect(screen).toContain('TOPIC')
    expect(screen).toContain('\u001b[1morders\u001b[22m')
    expect(screen).toMatch(/now|s ago/)
    const plain = await onTerminal(db, ['topics', 'list'], { env: { NO_COLOR: '1' } })
    expect(plain.screen).not.toContain('\u001b')
  })

  it('fits the width of the terminal', async () => {
    const db = tempDb()
    await seed(db, 't'.repeat(127), 1, [])
    const { screen } = await onTerminal(db, ['topics', 'list', '--color', 'never'], { columns: 60 })
    const lines = screen.trimEnd().split('\n')
    expect(lines).toHaveLength(2)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60)
  })

  it('shows control characters of a message and does not obey them', async () => {
    const db = tempDb()
    await seed(db, 'orders', 1, [{ key: 'k\u0007', body: 'a\u001b[2Jb\u009bc' }])
    for (const look of [[], ['--raw'], ['--json'], ['-f', '%k %s']]) {
      const { screen } = await onTerminal(db, ['peek', 'orders', '--color', 'never', ...look])
      expect(screen).toMatch(/2Jb/)
      for (const control of ['\u001b', '\u0007', '\u009b']) expect(screen).not.toContain(control)
    }
  })

  it.each([
    ['y\n', 0],
    ['n\n', 2],
    ['\n', 2],
  ])('asks before it takes something away, and an answer of %j leaves %d locks', async (typed, left) => {
    const db = tempDb()
    await seed(db, 'orders', 2, [])
    await withBroker(db, async (broker) => {
      await joinGroup(broker, { group: 'mailer', clientId: 'c1', topic: 'orders' })
      const args = ['locks', 'release', '--topic', 'orders', '-g', 'mailer', '--all', '--force']
      const { status, screen } = await onTerminal(db, args, { typed })
      expect(status).toBe(0)
      expect(screen).toContain('Release 2 locks of group mailer on topic orders? [y/N]')
      expect(await broker.listLocks()).toHaveLength(left)
    })
  })

  it.each([
    ['--no-input', {}],
    ['-q', { CI: '1' }],
  ])('does not ask with %s', async (flag, env) => {
    const db = tempDb()
    await seed(db, 'orders', 2, [])
    await withBroker(db, async (broker) => {
      await joinGroup(broker, { group: 'mailer', clientId: 'c1', topic: 'orders' })
      const args = ['locks', 'release', '--topic', 'orders', '-g', 'mailer', '--all', '--force', flag]
      const { status, screen } = await onTerminal(db, args, { env })
      expect(status).toBe(2)
      expect(screen).toContain('--yes')
    })
  })

  it('gives the same facts to a pipe', async () => {
    const db = tempDb()
    await seed(db, 'orders', 2, [])
    const { screen } = await onTerminal(db, ['topics', 'list', '--color', 'never'])
    const piped = (await rmq(['topics', 'list'], { db })).stdout.trimEnd().split('\t').slice(0, -1)
    expect(screen.split('\n')[1]?.split(/ {2,}/).slice(0, -1)).toEqual(piped)
  })
})
