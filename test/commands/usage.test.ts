import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rmq } from '../helpers/rmq.ts'
import { tempDb, tempFolder } from '../helpers/temp.ts'

describe('usage errors', () => {
  it.each([
    ['unknown command', ['tpoics', 'list'], 'topics list'],
    ['unknown command of a topic', ['topics', 'lst'], 'topics list'],
    ['unknown flag', ['topics', 'list', '--bogus'], '--bogus'],
    ['missing argument', ['topics', 'create'], 'NAME is missing'],
    ['missing flags', ['offsets', 'reset'], '--group is missing; --to is missing'],
    ['a flag that needs another', ['consume', 'orders', '--per-key', '2'], '--per-key needs --orderly'],
    ['one argument too many', ['topics', 'describe', 'a', 'b'], 'Unexpected argument: b'],
    ['a flag twice', ['peek', 'orders', '-p', '1', '-p', '2'], 'once'],
    ['a flag without its value', ['topics', 'list', '--db'], '--db'],
    ['a bad value', ['peek', 'orders', '-o', 'soon'], '--offset: "soon" is not an offset'],
    [
      'flags that exclude each other',
      ['topics', 'list', '-q', '--verbose'],
      '--quiet and --verbose exclude each other',
    ],
  ])('%s: exit 2, and the same as JSON', async (_, args, word) => {
    const text = await rmq(args, { db: tempDb() })
    expect(text).toMatchObject({ status: 2, stdout: '' })
    expect(text.stderr).toContain(word)
    expect(text.stderr).not.toContain('    at ')
    const json = await rmq([...args, '--json'], { db: tempDb() })
    // `--db --json` has a value after all.
    if (args.at(-1) === '--db') return
    expect(json).toMatchObject({ status: 2, stderr: '' })
    const { error } = JSON.parse(json.stdout)
    expect(Object.keys(error)).toEqual(['code', 'message', 'why', 'hint', 'details', 'exitCode'])
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', exitCode: 2 })
    expect(json.stdout.length).toBeLessThan(1000)
  })
})

describe('databases that cannot be used', () => {
  it.each([
    ['a directory', (folder: string) => mkdirSync(join(folder, 'x.db'))],
    ['no database', (folder: string) => writeFileSync(join(folder, 'x.db'), 'hello, '.repeat(1000))],
  ])('%s: exit 1 with a reason', async (_, prepare) => {
    const folder = tempFolder()
    prepare(folder)
    const { status, stdout } = await rmq(['topics', 'list', '--json'], { db: join(folder, 'x.db') })
    expect(status).toBe(1)
    expect(JSON.parse(stdout).error.code).toMatch(/^(STORE_|IO_ERROR)/)
  })

  it('a folder that is a file: exit 1, and nothing is made', async () => {
    const file = join(tempFolder(), 'file')
    writeFileSync(file, '')
    const { status, stdout } = await rmq(['topics', 'create', 'a', '--json'], { db: join(file, 'x.db') })
    expect({ status, code: JSON.parse(stdout).error.code }).toEqual({ status: 1, code: 'STORE_UNWRITABLE' })
  })
})
