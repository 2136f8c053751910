import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { ExecHandler } from '../../../src/core/handlers/exec-handler.ts'
import { collect, consume, contextOf, messageOf } from './fixture.ts'

/** What the command prints, for a message. */
async function outputOf(command: string, messages = [messageOf()], batch = 1, env?: NodeJS.ProcessEnv) {
  const stdout = collect()
  const handler = new ExecHandler({ command, batch, onStdout: stdout.push, ...(env && { env }) })
  expect(await consume(handler, messages)).toEqual({ status: 'success' })
  return stdout
}

describe('what an exit means', () => {
  test.each([
    ['exit 0', { status: 'success' }],
    ['true', { status: 'success' }],
    ['exit 1', { status: 'retry', error: 'exit 1' }],
    ['exit 75', { status: 'retry', error: 'exit 75' }],
    ['exit 65', { status: 'dead-letter', error: 'exit 65' }],
    ['echo out of stock >&2; exit 65', { status: 'dead-letter', error: 'out of stock' }],
    ['echo first >&2; echo last >&2; exit 3', { status: 'retry', error: 'first\nlast' }],
    ['echo a warning >&2', { status: 'success' }],
    ['kill -SEGV $$', { status: 'retry', error: 'signal SIGSEGV' }],
    ['kill -KILL $$', { status: 'retry', error: 'signal SIGKILL' }],
  ])('%s', async (command, result) => {
    expect(await consume(new ExecHandler({ command }))).toEqual(result)
  })

  test.each([
    ['no-such-program --flag', 127],
    ['exit 127', 127],
    ['/etc/passwd', 126],
  ])('%s ends the consumer', async (command, exitCode) => {
    const failure = consume(new ExecHandler({ command }))
    await expect(failure).rejects.toMatchObject({
      code: 'HANDLER_NOT_FOUND',
      message: expect.stringContaining(`(exit ${exitCode}): ${command}`),
      details: { command, exitCode },
    })
  })

  test('the shell says why a program cannot be run', async () => {
    const failure = consume(new ExecHandler({ command: 'no-such-program' }))
    await expect(failure).rejects.toMatchObject({ why: expect.stringContaining('no-such-program') })
  })
})

describe('stderr', () => {
  test('is passed on whole, and its last 2 KiB are the error, cut between characters', async () => {
    const stderr = collect()
    const command = `i=0; while [ $i -lt 3000 ]; do printf 'ü' >&2; i=$((i+1)); done; printf end >&2; exit 1`
    const { error = '' } = await consume(new ExecHandler({ command, onStderr: stderr.push }))
    expect(stderr.text()).toBe(`${'ü'.repeat(3000)}end`)
    expect(error).toMatch(/^ü+end$/)
    // 2048 bytes: "end", 1022 characters of two bytes, and one byte that would be half a character.
    expect(Buffer.byteLength(error)).toBe(2047)
  })

  test('a background process that holds it open does not hold up the message', async () => {
    const handler = new ExecHandler({
      command: 'echo started >&2; sleep 30 & echo $! ; exit 1',
      onStdout: () => {},
    })
    const context = contextOf()
    expect(await consume(handler, undefined, context)).toEqual({ status: 'retry', error: 'started' })
    process.kill(-(context.recorded[0]?.pid ?? 0), 'SIGKILL')
  })
})

describe('the command', () => {
  test('is read by sh once, exactly as it was written', async () => {
    const command = `printf '%s|' "$0" "$#" 'it'"'"'s' "\\$HOME" \`echo sub\` "$(printf 'a\nb')"; : 'go'`
    expect((await outputOf(command)).text()).toBe(`/bin/sh|0|it's|$HOME|sub|a\nb|`)
  })

  test('does not see the gate', async () => {
    expect((await outputOf('ls /proc/$$/fd')).text().split('\n')).not.toContain('3')
  })

  test('leads a process group of its own', async () => {
    const context = contextOf()
    const stdout = collect()
    const handler = new ExecHandler({ command: 'cut -d " " -f 5 /proc/self/stat', onStdout: stdout.push })
    await consume(handler, undefined, context)
    expect(Number(stdout.text())).toBe(context.recorded[0]?.pid)
    expect(context.recorded[0]?.startTime).toMatch(/^\d+$/)
  })
})

describe('stdin', () => {
  test('is the body, byte for byte', async () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    expect((await outputOf('cat', [messageOf({ body })])).bytes()).toEqual(body)
  })

  test('holds a body of megabytes, at once and from the start', async () => {
    const body = Buffer.alloc(3 * 1024 * 1024, 'rmq ')
    const hash = createHash('sha256').update(body).digest('hex')
    expect((await outputOf('sha256sum', [messageOf({ body })])).text()).toContain(hash)
    expect((await outputOf('wc -c < /dev/stdin', [messageOf({ body })])).text().trim()).toBe(
      String(body.length),
    )
  })

  test('is empty for an empty body', async () => {
    const output = await outputOf('cat; echo "$RMQ_BODY_SIZE"', [messageOf({ text: '' })])
    expect(output.text()).toBe('0\n')
  })

  test('leaves nothing in the folder of temporary files', async () => {
    const ours = () => readdirSync(tmpdir()).filter((name) => /^rmq-[A-Za-z0-9]{6}$/.test(name))
    const before = ours()
    await consume(new ExecHandler({ command: 'exit 1' }))
    await consume(new ExecHandler({ command: 'no-such-program' })).catch(() => {})
    expect(ours()).toEqual(before)
  })

  test('is one record a line for batches, also for a batch of one', async () => {
    const messages = [messageOf({ queueOffset: 7, text: 'a' }), messageOf({ queueOffset: 8, text: 'b\nc' })]
    const lines = (
      await outputOf('cat; echo "$RMQ_BATCH_SIZE $RMQ_BODY_SIZE $RMQ_QUEUE_OFFSET"', messages, 5)
    )
      .text()
      .trimEnd()
      .split('\n')
    expect(lines).toHaveLength(3)
    const [first = '', second = ''] = lines
    expect(JSON.parse(first)).toMatchObject({ queueOffset: 7, body: 'a' })
    expect(JSON.parse(second)).toMatchObject({ queueOffset: 8, body: 'b\nc' })
    expect(lines[2]).toBe(`2 ${first.length + second.length + 2} 7`)
    expect((await outputOf('cat', [messageOf()], 5)).text()).toContain('"msgId"')
  })
})

describe('the environment', () => {
  const printAll = 'env -0'
  const parse = (text: string) =>
    Object.fromEntries(
      text
        .split('\0')
        .filter((entry) => entry.startsWith('RMQ_'))
        .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    )

  test('says all of a message', async () => {
    const properties = { region: 'eu', note: 'a "quoted"\nline' }
    const message = messageOf({ reconsumeTimes: 2, properties })
    expect(parse((await outputOf(printAll, [message])).text())).toEqual({
      RMQ_MSG_ID: message.msgId,
      RMQ_TOPIC: 'orders',
      RMQ_QUEUE_ID: '3',
      RMQ_QUEUE_OFFSET: '7',
      RMQ_KEY: 'order-17',
      RMQ_KEYS: 'order-17 customer-4',
      RMQ_TAGS: 'paid',
      RMQ_RECONSUME_TIMES: '2',
      RMQ_GROUP: 'mailer',
      RMQ_BORN_TIMESTAMP: '2026-08-01T12:30:15.250Z',
      RMQ_PROPERTIES: JSON.stringify(properties),
      RMQ_BODY_SIZE: '5',
    })
  })

  test('leaves out what a message does not have, also when it was inherited', async () => {
    const env = {
      PATH: process.env.PATH,
      RMQ_KEY: 'outer',
      RMQ_TAGS: 'outer',
      RMQ_BATCH_SIZE: '9',
      RMQ_DB: 'a.db',
    }
    const message = messageOf({ key: null, keys: [], tags: null })
    const seen = parse((await outputOf(printAll, [message], 1, env)).text())
    expect(seen).not.toHaveProperty('RMQ_KEY')
    expect(seen).not.toHaveProperty('RMQ_KEYS')
    expect(seen).not.toHaveProperty('RMQ_TAGS')
    expect(seen).not.toHaveProperty('RMQ_BATCH_SIZE')
    expect(seen.RMQ_DB).toBe('a.db')
  })

  test('leaves out what no environment can hold, and cuts nothing', async () => {
    const message = messageOf({ key: 'a\0b', properties: { note: 'n\0n' } })
    const seen = parse((await outputOf(printAll, [message])).text())
    expect(seen).not.toHaveProperty('RMQ_KEY')
    expect(JSON.parse(seen.RMQ_PROPERTIES ?? '')).toEqual({ note: 'n\0n' })
  })

  test('leaves out properties that are too long for the system', async () => {
    // 30,000 bytes as RocketMQ counts them, six times as much in JSON.
    const properties = { bell: '\u0007'.repeat(30_000) }
    const seen = parse((await outputOf(printAll, [messageOf({ properties })])).text())
    expect(seen).not.toHaveProperty('RMQ_PROPERTIES')
    expect(seen.RMQ_TOPIC).toBe('orders')
  })

  test('gives way to an inherited one that leaves no room for properties', async () => {
    // The system takes 2 MiB of arguments and environment with the usual stack of 8 MiB (execve(2)).
    const filler = Object.fromEntries(
      Array.from({ length: 16 }, (_, i) => [`FILL_${i}`, 'x'.repeat(125_500)]),
    )
    const env = { PATH: process.env.PATH, ...filler }
    const properties = { long: 'y'.repeat(100_000) }
    const seen = parse((await outputOf(printAll, [messageOf({ properties })], 1, env)).text())
    expect(seen).not.toHaveProperty('RMQ_PROPERTIES')
    expect(seen.RMQ_TOPIC).toBe('orders')
  })
})

test('a process that cannot be started at all ends the consumer', async () => {
  const failure = consume(new ExecHandler({ command: ': '.repeat(100_000) }))
  await expect(failure).rejects.toMatchObject({
    code: 'HANDLER_FAILED',
    why: expect.stringContaining('E2BIG'),
  })
})
