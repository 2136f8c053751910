import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { cleanEnv, RUN, rmq, startRmq } from '../helpers/rmq.ts'
import { seed } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

const ESCAPE = '\u001b'

describe('streams', () => {
  it('does not wait for a stdin that it does not need', async () => {
    const child = startRmq(['topics', 'list'], { db: tempDb() })
    expect(await once(child, 'exit')).toEqual([0, null])
    child.stdin?.destroy()
  })

  it('ends quietly when the reader leaves', async () => {
    const db = tempDb()
    await seed(
      db,
      'orders',
      1,
      Array.from({ length: 500 }, () => ({ body: 'x'.repeat(1000) })),
    )
    for (const command of ['peek orders -c 0 --json', 'peek orders -c 0', '--help']) {
      const script = `"$0" "$1" ${command} | head -1 >/dev/null; echo "\${PIPESTATUS[0]}"`
      const child = spawn('bash', ['-c', script, process.execPath, RUN], { env: cleanEnv({ db }) })
      const texts: string[] = []
      child.stdout.on('data', (chunk) => texts.push(`out ${chunk}`))
      child.stderr.on('data', (chunk) => texts.push(`err ${chunk}`))
      await once(child, 'close')
      expect(texts.join('')).toBe('out 0\n')
    }
  })

  it('cuts nothing off for a slow reader, whatever the exit code', async () => {
    const db = tempDb()
    const name = (i: number) => `topic-${String(i).padStart(3, '0')}-${'x'.repeat(110)}`
    await seed(
      db,
      'orders',
      1,
      Array.from({ length: 40 }, (_, i) => ({ body: name(i).repeat(400) })),
    )
    const child = startRmq(['peek', 'orders', '-c', '0'], { db })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const chunks: Buffer[] = []
    child.stdout?.on('data', (chunk) => chunks.push(chunk))
    expect(await once(child, 'close')).toEqual([0, null])
    expect(Buffer.concat(chunks).toString()).toBe(
      Array.from({ length: 40 }, (_, i) => `${name(i).repeat(400)}\n`).join(''),
    )
    const long = await rmq(['topics', 'describe', 'y'.repeat(120_000), '--json'], { db })
    expect(long.status).not.toBe(0)
    expect(JSON.parse(long.stdout).error.exitCode).toBe(long.status)
  })

  it.each([{}, { NO_COLOR: '1' }, { TERM: 'dumb' }, { CI: '1' }])(
    'writes no escape code into a pipe with %j',
    async (env) => {
      const db = tempDb()
      await seed(db, 'orders', 1, [])
      for (const args of [['topics', 'list'], ['topics', 'describe', 'nope'], ['--help'], ['nonsense']]) {
        const { stdout, stderr } = await rmq(args, { db, env })
        expect(stdout + stderr).not.toContain(ESCAPE)
      }
    },
  )

  it('colours a pipe when it is forced to', async () => {
    const db = tempDb()
    expect((await rmq(['topics', 'describe', 'x'], { db, env: { FORCE_COLOR: '1' } })).stderr).toContain(
      ESCAPE,
    )
    const never = await rmq(['topics', 'create', 'x', '--color', 'never'], { db, env: { FORCE_COLOR: '1' } })
    expect(never.stdout + never.stderr).not.toContain(ESCAPE)
  })

  it('says with --verbose which database it uses', async () => {
    const db = tempDb()
    expect((await rmq(['topics', 'list', '--verbose', '--json'], { db })).stderr).toBe(`database ${db}\n`)
  })

  it('is quiet on stderr with -q', async () => {
    expect((await rmq(['topics', 'create', 'x', '-q'], { db: tempDb() })).stderr).toBe('')
  })
})
