import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { openBroker } from '../../../src/core/open-broker.ts'
import { tempDb, tempFolder } from '../../helpers/temp.ts'

async function filled(db: string): Promise<void> {
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 1 })
  const [mq] = await broker.publishQueues('t')
  if (mq !== undefined) await broker.send([{ mq, messages: [{ topic: 't', body: 'x'.repeat(20_000) }] }])
}

function edit(db: string, sql: string): void {
  const file = new Database(db)
  file.exec(sql)
  file.close()
}

const mode = (path: string) => statSync(path).mode & 0o777
const snapshot = (db: string) => ({ bytes: readFileSync(db), beside: readdirSync(dirname(db)) })

describe('a new store', () => {
  it('is private, whatever the umask, and so is its folder', async () => {
    const db = join(tempFolder(), 'a', 'b', 'rmq.db')
    const umask = process.umask(0)
    try {
      await filled(db)
    } finally {
      process.umask(umask)
    }
    expect([mode(db), mode(dirname(db)), mode(dirname(dirname(db)))]).toEqual([0o600, 0o700, 0o700])
  })

  it('may begin as an empty file, whose mode is left alone', async () => {
    const db = tempDb()
    writeFileSync(db, '')
    chmodSync(db, 0o640)
    await filled(db)
    expect(mode(db)).toBe(0o640)
    await using broker = await openBroker({ db })
    expect((await broker.listTopics()).map(({ topic }) => topic)).toEqual(['t'])
  })

  it('is recognised in the file itself before the first checkpoint', async () => {
    const db = tempDb()
    await using first = await openBroker({ db })
    await using second = await openBroker({ db })
    await first.createTopic({ topic: 't' })
    expect((await second.topicConfig('t'))?.queues).toBe(8)
    expect(readFileSync(`${db}-wal`).length).toBeGreaterThan(0)
    const peer = `
      import { readFileSync } from 'node:fs'
      process.stdout.write(readFileSync(process.argv[1]).subarray(68, 72).toString('latin1'))`
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', peer, db], { encoding: 'latin1' }),
    ).toBe('rmq1')
  })

  it('does not come to be when only looked for', async () => {
    const db = join(tempFolder(), 'none', 'rmq.db')
    await using broker = await openBroker({ db, create: false })
    expect(await broker.listTopics()).toEqual([])
    expect(await broker.topicConfig('t')).toBeUndefined()
    await expect(broker.queueStats('t')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    broker.onNotification(() => {})
    expect(existsSync(dirname(db))).toBe(false)
  })

  it('has what the settings ask for', async () => {
    const db = tempDb()
    await using _broker = await openBroker({ db })
    const file = new Database(db)
    const pragma = (name: string) => file.pragma(name, { simple: true })
    expect([pragma('journal_mode'), pragma('page_size'), pragma('auto_vacuum')]).toEqual(['wal', 4096, 2])
    file.close()
  })
})

describe('what is no store of ours is refused and not touched', () => {
  const cases: [string, (db: string) => void][] = [
    ['a text file', (db) => writeFileSync(db, 'hello\n'.repeat(100))],
    ['one byte', (db) => writeFileSync(db, 'x')],
    ['random bytes', (db) => writeFileSync(db, Buffer.alloc(65_536, 0xa5))],
    ["another program's database", (db) => edit(db, 'create table person (name text)')],
    [
      "another program's database in WAL mode",
      (db) => edit(db, 'pragma journal_mode=wal; create table p (x)'),
    ],
    ['a directory', (db) => mkdirSync(db)],
    ['a FIFO', (db) => execFileSync('mkfifo', [db])],
  ]
  it.each(cases)('%s', async (_, make) => {
    const db = tempDb()
    make(db)
    const before = statSync(db).isFile() ? snapshot(db) : readdirSync(dirname(db))
    await expect(openBroker({ db })).rejects.toMatchObject({ code: 'STORE_NOT_A_DATABASE' })
    expect(statSync(db).isFile() ? snapshot(db) : readdirSync(dirname(db))).toEqual(before)
  })

  it('a newer schema, naming both versions', async () => {
    const db = tempDb()
    await filled(db)
    edit(db, 'pragma user_version = 9999')
    const before = snapshot(db)
    await expect(openBroker({ db })).rejects.toMatchObject({
      code: 'SCHEMA_TOO_NEW',
      why: expect.stringMatching(/9999.*\b2\b/),
    })
    expect(snapshot(db)).toEqual(before)
  })

  it('a newer schema that only the log knows, while this process has the file open', async () => {
    const db = tempDb()
    await using _broker = await openBroker({ db })
    edit(db, 'pragma user_version = 9999')
    await expect(openBroker({ db })).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
  })

  it('a file cut at half', async () => {
    const db = tempDb()
    await filled(db)
    truncateSync(db, statSync(db).size / 2)
    const before = snapshot(db)
    await expect(openBroker({ db })).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
    expect(snapshot(db)).toEqual(before)
  })
})

describe('a place that cannot be written', () => {
  it('a folder that the system does not make', async () => {
    await expect(openBroker({ db: '/proc/none/deeper/rmq.db' })).rejects.toMatchObject({
      code: 'STORE_UNWRITABLE',
    })
  })

  it('a folder below a file', async () => {
    const file = join(tempFolder(), 'file')
    writeFileSync(file, '')
    await expect(openBroker({ db: join(file, 'rmq.db') })).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
  })

  it('a loop of links', async () => {
    const db = tempDb()
    symlinkSync(db, db)
    await expect(openBroker({ db })).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
  })

  it.each([
    ['the folder', (db: string) => chmodSync(dirname(db), 0o555)],
    ['the file', (db: string) => chmodSync(db, 0o444)],
  ])('%s belongs to somebody else', async (_, forbid) => {
    const db = tempDb()
    await filled(db)
    chmodSync(dirname(db), 0o777)
    chmodSync(db, 0o666)
    forbid(db)
    await asNobody(() =>
      expect(openBroker({ db })).rejects.toMatchObject({
        code: 'STORE_UNWRITABLE',
        hint: expect.stringMatching(/owner and mode/),
      }),
    )
  })
})

/** As root everything is writable: act as nobody meanwhile. Who is not root is refused as it is. */
async function asNobody(act: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    await act()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
