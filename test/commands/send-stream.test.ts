import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cleanEnv, RUN, startRmq } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'

describe('send of a stream', () => {
  it('sends each line with its bytes, and the last one without a newline', async () => {
    const { run, records } = shop()
    await run(['topics', 'create', 'lines', '--queues', '1'])
    const sent = await run(['send', 'lines'], { input: 'a\r\n\nb' })
    expect(sent.stdout.trimEnd().split('\n')).toHaveLength(3)
    expect(sent.stderr).toMatch(/sent 3 messages to 1 queue of lines/)
    expect((await records('lines')).map(({ body }) => body)).toEqual(['a\r', '', 'b'])
  })

  it('keeps the order of the input for every key', async () => {
    const { run, records } = shop()
    const keys = Array.from({ length: 5000 }, (_, i) => `k${(i * 7) % 40}`)
    const input = keys.map((key, i) => JSON.stringify({ key, body: { n: i } })).join('\n')
    expect((await run(['send', 'many', '--input', 'ndjson', '-q'], { input })).stdout).toBe('')
    const seen = new Map<string, number>()
    const stored = await records('many')
    expect(stored).toHaveLength(5000)
    for (const { key, body } of stored) {
      const { n } = JSON.parse(body)
      expect(n).toBeGreaterThan(seen.get(key) ?? -1)
      seen.set(key, n)
    }
  })

  it('takes back what peek and consume print, without a loss', async () => {
    const { run, records } = shop()
    const lines = [
      {
        key: 'é',
        keys: ['a', 'b c'],
        tags: 't',
        properties: { p: '订单✓😀', e: '' },
        body: '\u0000\ufeff\n',
      },
      { bodyBase64: Buffer.from([0xff, 0xfe, 0x00, 0xc3]).toString('base64'), key: 'e\u0301' },
      { body: { deep: [1, 2.5, '\u2028'] } },
    ]
    const input = lines.map((line) => JSON.stringify(line)).join('\n')
    await run(['send', 'a', '--input', 'ndjson'], { input })
    const printed = await run(['peek', 'a', '-c', '0', '--json'])
    expect((await run(['send', 'b', '--input', 'ndjson'], { input: printed.stdout })).status).toBe(0)
    const bare = (list: Record<string, unknown>[]) =>
      list.map(({ msgId, topic, queueId, queueOffset, bornTimestamp, storeTimestamp, ...rest }) => rest)
    const byBody = (a: Record<string, unknown>, b: Record<string, unknown>) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
    const [before, after] = [bare(await records('a')).sort(byBody), bare(await records('b')).sort(byBody)]
    expect(after).toEqual(before)
    expect(before).toHaveLength(3)
  })

  it('stores a line at once, although the next one is long in coming', async () => {
    const { db, records } = shop()
    const child = startRmq(['send', 'slow'], { db })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stdin?.write('a\nhalf of')
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data')
    expect(String(line)).toMatch(/\t0\n$/)
    expect((await records('slow')).map(({ body }) => body)).toEqual(['a'])
    child.stdin?.end(' b')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect((await records('slow')).map(({ body }) => body).sort()).toEqual(['a', 'half of b'])
  })

  it('stops at SIGINT with what was read whole, and says how much that was', async () => {
    const { db, records } = shop()
    const child = startRmq(['send', 'slow'], { db })
    onTestFinished(() => void child.kill('SIGKILL'))
    let stderr = ''
    child.stderr?.on('data', (chunk) => {
      stderr += chunk
    })
    child.stdin?.write('a\nb\nhalf of')
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([130, null])
    expect(stderr).toContain('sent 2 messages')
    expect(await records('slow')).toHaveLength(2)
  })

  it('ends quietly when nobody reads what it prints', async () => {
    const { db } = shop()
    const script = '{ yes line | "$0" "$1" send t 2>&3; echo "status $?" >&3; } 3>&2 | head -2'
    const child = spawn('sh', ['-c', script, process.execPath, RUN], {
      env: cleanEnv({ db }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(stderr).toMatch(/^created topic t .*\nstatus 0\n$/)
  })
})
