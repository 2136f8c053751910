import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { rmq } from '../helpers/rmq.ts'
import { seed } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

async function damaged(): Promise<string> {
  const db = tempDb()
  await seed(db, 'orders', 1, [{ body: 'a' }, { body: 'b' }, { body: 'c' }])
  const file = new Database(db)
  file.exec('delete from message_1 where offset = 1')
  file.close()
  return db
}

it('says that all holds', async () => {
  const db = tempDb()
  await seed(db, 'orders', 2, [{ body: 'a' }])
  const text = await rmq(['verify'], { db })
  expect(text).toMatchObject({ status: 0, stdout: '' })
  expect(text.stderr).toContain('all invariants hold')
  const json = JSON.parse((await rmq(['verify', 'orders', '--json'], { db })).stdout)
  expect(json).toMatchObject({ violations: [], checked: { messages: 1 } })
})

it('names each violation, exit 5, the same as JSON in one document', async () => {
  const db = await damaged()
  const text = await rmq(['verify'], { db })
  expect(text.status).toBe(5)
  expect(text.stdout).toMatch(/^1\torders\t0\t/)
  expect(text.stderr).toContain('CHECK_FAILED')
  const json = await rmq(['verify', '--json'], { db })
  expect(json.status).toBe(5)
  expect(JSON.parse(json.stdout).violations).toContainEqual(
    expect.objectContaining({ invariant: 1, topic: 'orders', queueId: 0 }),
  )
})

it.each([['nope'], ['-g', 'nope']])('does not call what is not there sound: %s', async (...args) => {
  const { status } = await rmq(['verify', ...args], { db: await damaged() })
  expect(status).toBe(3)
})
