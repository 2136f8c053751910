import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openBroker } from '../../../src/core/open-broker.ts'
import { driverMissing, storeError } from '../../../src/core/sqlite/store-errors.ts'
import { tempDb } from '../../helpers/temp.ts'

const failure = (code: string, message = 'no') => Object.assign(new Error(message), { code })

describe('a damaged page', () => {
  it('is said as damage by whatever meets it', async () => {
    const db = tempDb()
    {
      await using broker = await openBroker({ db })
      await broker.createTopic({ topic: 't', queues: 1 })
      const mq = { topic: 't', brokerName: 'embedded', queueId: 0 }
      const messages = Array.from({ length: 200 }, () => ({ topic: 't', body: 'x'.repeat(500) }))
      await broker.send([{ mq, messages }])
    }
    const fd = openSync(db, 'r+')
    // The last pages hold messages; the schema lies in the first.
    writeSync(fd, Buffer.alloc(8192, 0xff), 0, 8192, statSync(db).size - 8192)
    closeSync(fd)
    await using broker = await openBroker({ db })
    const mq = { topic: 't', brokerName: 'embedded', queueId: 0 }
    const readAll = async () => {
      for (let offset = 0; offset < 200; ) {
        offset = (await broker.pull({ mq, offset, maxMessages: 100, waitMs: 0 })).nextOffset
      }
    }
    await expect(readAll()).rejects.toMatchObject({ code: 'STORE_DAMAGED', details: { path: db } })
  })
})

describe('failures become errors of rmq', () => {
  it.each([
    ['SQLITE_FULL', 'STORE_FULL'],
    ['SQLITE_IOERR_WRITE', 'STORE_FULL'],
    ['ENOSPC', 'STORE_FULL'],
    ['EDQUOT', 'STORE_FULL'],
    ['SQLITE_IOERR_READ', 'IO_ERROR'],
    ['SQLITE_READONLY_DIRECTORY', 'STORE_UNWRITABLE'],
    ['SQLITE_CANTOPEN', 'STORE_UNWRITABLE'],
    ['EROFS', 'STORE_UNWRITABLE'],
    ['SQLITE_READONLY_DBMOVED', 'STORE_MOVED'],
    ['SQLITE_NOTADB', 'STORE_NOT_A_DATABASE'],
    ['SQLITE_CORRUPT_INDEX', 'STORE_DAMAGED'],
    ['SQLITE_BUSY_RECOVERY', 'STORE_BUSY'],
  ])('%s is %s', (code, expected) => {
    const cause = failure(code)
    expect(storeError(cause, '/x.db')).toMatchObject({ code: expected, cause, why: `no (${code})` })
  })

  it('except those that are bugs', () => {
    for (const bug of [
      failure('SQLITE_CONSTRAINT_UNIQUE'),
      failure('SQLITE_ERROR'),
      new TypeError('x'),
      'text',
    ]) {
      expect(storeError(bug, '/x.db')).toBe(bug)
    }
  })

  it.each([
    failure('ERR_DLOPEN_FAILED', 'was compiled against a different Node.js version'),
    failure('ERR_MODULE_NOT_FOUND', "Cannot find package 'better-sqlite3'"),
    new Error('Could not locate the bindings file. Tried:\n → …'),
  ])('a native module that does not load: %s', (cause) => {
    expect(driverMissing(cause)).toMatchObject({
      code: 'STORE_DRIVER_MISSING',
      hint: expect.stringContaining('npm rebuild better-sqlite3'),
    })
  })

  it('another missing module is not the driver', () => {
    expect(driverMissing(failure('ERR_MODULE_NOT_FOUND', "Cannot find package 'ink'"))).toBeUndefined()
  })
})
