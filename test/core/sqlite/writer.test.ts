import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../../src/core/open-broker.ts'
import { EmbeddedStore } from '../../../src/core/sqlite/embedded-store.ts'
import { tempDb } from '../../helpers/temp.ts'
import { Machine } from './machine.ts'

let db: string
let machine: Machine
let store: EmbeddedStore
beforeEach(() => {
  db = tempDb()
  machine = new Machine()
  store = new EmbeddedStore(
    { path: db, durability: 'full', host: machine.startProcess(), create: true },
    () => {},
  )
  onTestFinished(() => store.close())
  store.db.exec('create table note (text text primary key)')
})

const add = (text: string) =>
  store.write(() => store.db.prepare('insert into note values (?)').run(text).changes)
const notes = () => store.db.prepare('select text from note order by rowid').pluck().all()

describe('jobs that wait at the same time', () => {
  it('share one transaction and run in their order', async () => {
    const other = new Database(db)
    const version = () => other.pragma('data_version', { simple: true }) as number
    const before = version()
    const results = await Promise.all(['a', 'b', 'c'].map(add))
    expect(results).toEqual([1, 1, 1])
    expect(notes()).toEqual(['a', 'b', 'c'])
    expect(version()).toBe(before + 1)
    other.close()
  })

  it('fail each for itself', async () => {
    const boom = () => {
      store.db.exec("insert into note values ('half')")
      throw new Error('boom')
    }
    const results = await Promise.allSettled([
      add('a'),
      store.write(boom),
      add('a'),
      add('b'),
      store.write(boom),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
      'rejected',
    ])
    expect(results[1]).toMatchObject({ reason: { message: 'boom' } })
    expect(notes()).toEqual(['a', 'b'])
    await add('c')
    expect(notes()).toEqual(['a', 'b', 'c'])
  })

  it('are synchronous: a promise is a bug, and stores nothing', async () => {
    const late = store.write(async () => store.db.exec("insert into note values ('late')"))
    await expect(late).rejects.toThrow(/synchronous/)
    expect(notes()).toEqual([])
  })

  it('are all written, however many', async () => {
    await Promise.all(Array.from({ length: 10_000 }, (_, i) => add(`${i}`)))
    expect(notes().length).toBe(10_000)
  })
})

describe('a lock of another connection', () => {
  it('is waited for', async () => {
    const other = new Database(db)
    other.exec('begin immediate')
    const waiting = [add('a'), add('b')]
    await new Promise((resolve) => setTimeout(resolve, 20))
    waiting.push(add('c'))
    other.exec("insert into note values ('first'); commit")
    await Promise.all(waiting)
    expect(notes()).toEqual(['first', 'a', 'b', 'c'])
    other.close()
  })

  it('that never ends is an error that says how long it waited, and no harm is done', async () => {
    const other = new Database(db)
    other.exec('begin immediate')
    const refused = expect(add('a')).rejects.toMatchObject({
      code: 'STORE_BUSY',
      why: expect.stringContaining('12000 ms'),
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    machine.pass(12_000)
    await refused
    other.exec('rollback')
    await add('b')
    expect(notes()).toEqual(['b'])
    other.close()
  })
})

describe('durability', () => {
  const level = () => store.db.pragma('synchronous', { simple: true })

  it('is full for a transaction with a durable job only', async () => {
    const seen: unknown[] = []
    await store.write(() => seen.push(level()))
    await store.write(() => seen.push(level()), { durable: true })
    await Promise.all([store.write(() => {}), store.write(() => seen.push(level()), { durable: true })])
    await store.write(() => seen.push(level()))
    expect(seen).toEqual([1, 2, 2, 1])
  })

  it('is never full where it was opened with normal', async () => {
    const relaxed = new EmbeddedStore(
      { path: db, durability: 'normal', host: machine.startProcess(), create: true },
      () => {},
    )
    const read = () => relaxed.db.pragma('synchronous', { simple: true })
    expect(await relaxed.write(read, { durable: true })).toBe(1)
    await relaxed.close()
  })

  it('is set on every open, since SQLite forgets it', async () => {
    const again = new EmbeddedStore(
      { path: db, durability: 'full', host: machine.startProcess(), create: true },
      () => {},
    )
    expect(again.db.pragma('synchronous', { simple: true })).toBe(2)
    await again.close()
  })
})

describe('a file that is gone', () => {
  it.each([
    ['deleted', () => rmSync(db)],
    ['moved', () => renameSync(db, `${db}.old`)],
    ['replaced', () => [rmSync(db), writeFileSync(db, '')]],
  ])('%s: no write is acknowledged after a pause', async (_, lose) => {
    await add('a')
    lose()
    machine.pass(1001)
    await expect(add('b')).rejects.toMatchObject({ code: 'STORE_MOVED' })
    await expect(add('c')).rejects.toMatchObject({ code: 'STORE_MOVED' })
  })

  it('fails a held pull of a running broker', async () => {
    const path = join(dirname(db), 'other.db')
    const broker = await openBroker({ db: path })
    await broker.createTopic({ topic: 't', queues: 1 })
    const [mq] = await broker.publishQueues('t')
    if (mq === undefined) throw new Error('no queue')
    const held = broker.pull({ mq, offset: 0, maxMessages: 1, waitMs: 20_000 })
    rmSync(path)
    await expect(held).rejects.toMatchObject({ code: 'STORE_MOVED' })
    await broker.close()
  })
})

describe('close', () => {
  it('writes what waits, and refuses what comes later', async () => {
    const waiting = [add('a'), add('b')]
    const closed = store.close()
    const late = expect(add('c')).rejects.toMatchObject({ code: 'IO_ERROR' })
    await Promise.all([...waiting, closed, late])
    const other = new Database(db)
    expect(other.prepare('select text from note').pluck().all()).toEqual(['a', 'b'])
    other.close()
  })

  it('folds the write-ahead log into the file', async () => {
    await add('a')
    await store.close()
    const copy = new Database(db, { readonly: true })
    expect(copy.prepare('select text from note').pluck().all()).toEqual(['a'])
    copy.close()
  })
})
