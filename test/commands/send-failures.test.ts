import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shop } from '../helpers/shop.ts'

describe('send that cannot go on', () => {
  it('names the bad line; 6 when lines before it were sent, 2 when none was', async () => {
    const { run, records } = shop()
    const some = await run(['send', 't', '--input', 'ndjson'], {
      input: '{"body":"1"}\n{"body":"2"}\n{"body":\n',
    })
    expect(some.status).toBe(6)
    expect(some.stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(some.stderr).toMatch(/line 3 .*\[PARTIAL\]/)
    expect(some.stderr).toMatch(/2 messages before it are sent/)
    expect(await records('t')).toHaveLength(2)
    const none = await run(['send', 't', '--input', 'ndjson', '--json'], {
      input: '{"body":\n{"body":"2"}\n',
    })
    expect(none.status).toBe(2)
    expect(JSON.parse(none.stdout).error).toMatchObject({ code: 'INVALID_INPUT_LINE', details: { line: 1 } })
    expect(await records('t')).toHaveLength(2)
  })

  it('names the line of a message that the broker refuses', async () => {
    const { run, records } = shop()
    const input = ['{"body":"1"}', '{"body":"2","properties":{"KEYS":"x"}}', '{"body":"3"}'].join('\n')
    const { status, stderr } = await run(['send', 't', '--input', 'ndjson'], { input })
    expect(status).toBe(6)
    expect(stderr).toMatch(/line 2 .*KEYS is reserved/)
    expect((await records('t')).map(({ body }) => body)).toEqual(['1'])
  })

  it('stores nothing of an atomic send that has a bad line', async () => {
    const { run, records } = shop()
    await run(['topics', 'create', 't'])
    const input = `${'{"body":"1"}\n'.repeat(1500)}{"body":\n`
    const bad = await run(['send', 't', '--input', 'ndjson', '--atomic'], { input })
    expect(bad.status).toBe(2)
    expect(bad.stderr).toMatch(/line 1501 /)
    expect(await records('t')).toHaveLength(0)
    const good = await run(['send', 't', '--atomic', '-q'], { input: 'a\n'.repeat(1500) })
    expect(good.status).toBe(0)
    expect(await records('t')).toHaveLength(1500)
  })

  it('makes no topic with --no-create, and names the closest one', async () => {
    const { run } = shop()
    await run(['topics', 'create', 'orders'])
    const typo = await run(['send', 'ordrs', 'x', '--no-create', '--json'])
    expect(typo.status).toBe(3)
    expect(JSON.parse(typo.stdout).error.hint).toContain('orders')
    expect((await run(['topics', 'list'])).stdout).toMatch(/^orders\t/)
  })

  it('refuses wrong values, each with its exit code', async () => {
    const { run } = shop()
    await run(['topics', 'create', 't'])
    const cases: readonly (readonly [readonly string[], number])[] = [
      [['t', 'x', '--key', ''], 2],
      [['t', 'x', '--count', '0'], 2],
      [['t', 'x', '--selector', 'mod'], 2],
      [['t', 'x', '--selector', 'hash'], 2],
      [['t', 'x', '--selector', 'other'], 2],
      [['t', 'x', '--queue', '99'], 3],
      [['t', 'x', '--rate', '5'], 2],
      [['a b', 'x'], 2],
      [['t', 'x', 'y'], 2],
      [['t', '--file', '/nonexistent/body'], 1],
    ]
    const results = await Promise.all(cases.map(([args]) => run(['send', ...args])))
    expect(results.map(({ status }) => status)).toEqual(cases.map(([, status]) => status))
    for (const { stdout, stderr } of results) {
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^rmq: .*\[[A-Z_]+\]/)
    }
  })

  it('leaves no database behind after a wrong flag', async () => {
    const { db, run } = shop()
    expect((await run(['send', 't', 'x', '--property', 'no value'])).status).toBe(2)
    expect(existsSync(db)).toBe(false)
  })
})
