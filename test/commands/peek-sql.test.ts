import { expect, it } from 'vitest'
import { rmq } from '../helpers/rmq.ts'
import { seed } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

async function filled(): Promise<string> {
  const db = tempDb()
  const totals = ['5', '50', '500', 'many']
  await seed(
    db,
    'orders',
    2,
    totals.map((total, i) => ({
      body: total,
      queueId: i % 2,
      tags: 'A',
      properties: { total, 'no-name': 'x' },
    })),
  )
  return db
}

it.each([
  ['total > 10', '500 50'],
  ["total = 'many' OR total < 10", '5 many'],
  ["TAGS = 'A' AND total IS NOT NULL", '5 500 50 many'],
  ['missing = 1', ''],
])('--sql %j', async (sql, bodies) => {
  const { status, stdout } = await rmq(['peek', 'orders', '--sql', sql], { db: await filled() })
  expect({ status, bodies: stdout.split('\n').join(' ').trim() }).toEqual({ status: 0, bodies })
})

it('a malformed filter ends with 2 and a caret under the place, also on an empty topic', async () => {
  const db = tempDb()
  await seed(db, 'orders', 1, [])
  const text = await rmq(['peek', 'orders', '--sql', 'total > 10 annd TRUE'], { db })
  expect(text).toMatchObject({ status: 2, stdout: '' })
  const lines = text.stderr.split('\n')
  const shown = lines.findIndex((line) => line.includes('total > 10 annd TRUE'))
  expect(lines[shown + 1]?.indexOf('^')).toBe(lines[shown]?.indexOf('annd'))
  const json = await rmq(['peek', 'orders', '--sql', 'total > 10 annd TRUE', '--json'], { db })
  expect(json.status).toBe(2)
  expect(JSON.parse(json.stdout)).toMatchObject({
    error: { code: 'INVALID_ARGUMENT', details: { line: 1, column: 12 }, exitCode: 2 },
  })
})

it('--sql and --tag exclude each other', async () => {
  const { status, stderr } = await rmq(['peek', 'orders', '--sql', 'TRUE', '--tag', 'A'], {
    db: await filled(),
  })
  expect(status).toBe(2)
  expect(stderr).toContain('--sql')
})
