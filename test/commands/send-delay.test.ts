import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseLines, shop } from '../helpers/shop.ts'

const MSG_ID = /^[0-9A-F]{32}$/
const bodies = (lines: readonly { readonly body: string }[]) => lines.map(({ body }) => body)

describe('send says when a delayed message is due, in place of its offset', () => {
  it.each([
    ['--delay', '2h', 2 * 3_600_000],
    ['--delay-level', '99', 2 * 3_600_000],
  ])('%s %s', async (flag, value, ms) => {
    const { run, records } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    const before = Date.now()
    const result = await run(['send', 't', 'later', '--key', 'k', flag, value, '--json'])
    const after = Date.now()
    expect(result).toMatchObject({ status: 0, stderr: '' })
    const { sent } = JSON.parse(result.stdout)
    expect(sent).toEqual([
      {
        msgId: expect.stringMatching(MSG_ID),
        topic: 't',
        queueId: 0,
        queueOffset: null,
        deliverAt: expect.any(String),
        key: 'k',
        status: 'SEND_OK',
      },
    ])
    const due = new Date(sent[0].deliverAt)
    expect(due.toISOString()).toBe(sent[0].deliverAt)
    expect(due.getTime()).toBeGreaterThanOrEqual(before + ms)
    expect(due.getTime()).toBeLessThanOrEqual(after + ms)
    expect(await records('t')).toEqual([])
  })

  it('to people and programs, as the command line said it', async () => {
    const { run } = shop()
    const result = await run(['send', 't', 'x', '-p', '3', '--deliver-at', '2096-08-01T10:00:00.250+02:00'])
    expect(result.status).toBe(0)
    expect(result.stdout).toMatch(/^[0-9A-F]{32}\t3\tdue 2096-08-01T08:00:00\.250Z\n$/)
  })

  it('but a time that has passed is now', async () => {
    const { run, records } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    const texts = ['-1m', '2020-08-01#10:00:00:000']
    for (const [i, at] of texts.entries()) {
      const { status, stdout } = await run(['send', 't', at, `--deliver-at=${at}`])
      expect({ status, place: stdout.trimEnd().split('\t').slice(1) }).toEqual({
        status: 0,
        place: ['0', String(i)],
      })
    }
    const { stdout } = await run(['send', 't', 'none', '--delay', '0s', '--json'])
    expect(JSON.parse(stdout).sent[0]).toMatchObject({ queueOffset: texts.length })
    expect(JSON.parse(stdout).sent[0]).not.toHaveProperty('deliverAt')
    expect(bodies(await records('t'))).toEqual([...texts, 'none'])
  })
})

describe('a delayed message', () => {
  it('comes when it is due, with its id, its properties and its time of birth, to a command that looks then', async () => {
    const { run, records } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    const args = ['send', 't', 'later', '--key', 'k', '--tag', 'a', '--property', 'p=1', '--delay', '1500ms']
    const [{ msgId, deliverAt }] = JSON.parse((await run([...args, '--json'])).stdout).sent
    await run(['send', 't', 'now', '--key', 'k'])
    while (Date.now() < Date.parse(deliverAt)) await new Promise((resolve) => setTimeout(resolve, 20))
    const [now, later] = await records('t')
    expect(now).toMatchObject({ body: 'now', queueOffset: 0 })
    expect(later).toMatchObject({ msgId, body: 'later', queueOffset: 1, key: 'k', keys: ['k'], tags: 'a' })
    expect(later.properties).toEqual({ p: '1' })
    expect(Date.parse(later.storeTimestamp)).toBeGreaterThanOrEqual(Date.parse(deliverAt))
    expect(Date.parse(later.bornTimestamp)).toBeLessThanOrEqual(Date.parse(deliverAt) - 1500)
  })

  it('that is due already is consumed by who goes to the end, and is no lag before', async () => {
    const { run } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    await run(['send', 't', 'soon', '--delay', '1ms'])
    await run(['send', 't', 'late', '--delay', '1d'])
    const consumed = await run(['consume', 't', '-g', 'g', '-e'])
    expect(consumed).toMatchObject({ status: 0, stdout: 'soon\n' })
    const offsets = await run(['offsets', 'list', '-g', 'g', '--topic', 't', '--json'])
    expect(JSON.parse(offsets.stdout).offsets).toMatchObject([{ maxOffset: 1, committedOffset: 1, lag: 0 }])
  })

  it('goes with its topic', async () => {
    const { run, records } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    await run(['send', 't', 'old', '--delay', '1ms'])
    await run(['send', 't', 'old', '--delay', '1d'])
    expect((await run(['topics', 'delete', 't', '--confirm', 't'])).status).toBe(0)
    await run(['topics', 'create', 't', '--queues', '1'])
    expect(await records('t')).toEqual([])
  })
})

describe('NDJSON', () => {
  const input = [
    '{"body":"a","delay":"1d"}',
    '{"body":"b"}',
    '{"body":"c","delayLevel":18}',
    '{"body":"d","deliverAt":"2096-08-01T10:00:00Z"}',
    '{"body":"e","deliverAt":1}',
  ].join('\n')

  it('says it line by line, and each line is answered', async () => {
    const { run, records } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    const { status, stdout } = await run(['send', 't', '--input', 'ndjson', '--json'], { input })
    expect(status).toBe(0)
    const offsets = parseLines(stdout).map(({ queueOffset, deliverAt }) => [queueOffset, typeof deliverAt])
    expect(offsets).toEqual([
      [null, 'string'],
      [0, 'undefined'],
      [null, 'string'],
      [null, 'string'],
      [1, 'undefined'],
    ])
    expect(new Set(parseLines(stdout).map(({ msgId }) => msgId)).size).toBe(5)
    expect(bodies(await records('t'))).toEqual(['b', 'e'])
  })

  it('the command line beats the lines', async () => {
    const { run, records } = shop()
    const { stdout } = await run(['send', 't', '--input', 'ndjson', '--delay', '3h', '--json'], { input })
    const dues = parseLines(stdout).map(({ deliverAt }) => Date.parse(deliverAt) - Date.now())
    expect(dues).toHaveLength(5)
    for (const due of dues) expect(Math.abs(due - 3 * 3_600_000)).toBeLessThan(60_000)
    expect(await records('t')).toEqual([])
  })

  it('a bad line is named, and what is before it is sent', async () => {
    const { run, records } = shop()
    const lines = '{"body":"first"}\n{"body":"x","delay":"1s","deliverAt":"now"}\n{"body":"third"}\n'
    const some = await run(['send', 't', '--input', 'ndjson'], { input: lines })
    expect(some.status).toBe(6)
    expect(some.stderr).toMatch(/line 2 .*exclude each other/)
    expect(bodies(await records('t'))).toEqual(['first'])
    const none = await run(['send', 't', '--input', 'ndjson', '--atomic', '--json'], { input: lines })
    expect(none.status).toBe(2)
    expect(JSON.parse(none.stdout).error).toMatchObject({ code: 'INVALID_INPUT_LINE', details: { line: 2 } })
    expect(bodies(await records('t'))).toEqual(['first'])
  })
})

describe('a bad flag is a usage error, and nothing is made or sent', () => {
  it.each([
    [['--delay', '10'], /--delay: "10" is not a duration/],
    [['--delay', '4000d'], /10 years/],
    [['--delay-level', '0'], /--delay-level.*0/],
    [['--deliver-at', '2026-08-01T10:00:00'], /is not a time(.*\n)+.*add the zone/],
    [['--deliver-at', '99999999999999'], /is no time to deliver at/],
    [['--delay', '1s', '--delay-level', '1'], /--delay-level/],
    [['--deliver-at', 'now', '--delay', '1s'], /--deliver-at/],
  ])('%j', async (flags, message) => {
    const { db, run } = shop()
    const result = await run(['send', 't', 'x', ...flags])
    expect(result.stderr).toMatch(message)
    expect(result).toMatchObject({ status: 2, stdout: '' })
    expect(existsSync(db)).toBe(false)
  })
})
