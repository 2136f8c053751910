import { execFile } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { cleanEnv, RUN } from '../helpers/rmq.ts'
import { parseLines, shop } from '../helpers/shop.ts'

/** Runs it by a shell, the only way to an argument that is no UTF-8: `$BYTE` in the words is the byte 0xff. */
function rmqWithByte(
  db: string,
  words: string,
): Promise<{ readonly status: number; readonly stderr: string }> {
  const script = `BYTE=$(printf '\\377'); exec "$0" "$1" ${words}`
  return new Promise((resolve) => {
    execFile(
      'sh',
      ['-c', script, process.execPath, RUN],
      { env: cleanEnv({ db }) },
      (error, _stdout, stderr) => {
        resolve({ status: Number(error?.code ?? 0), stderr })
      },
    )
  })
}

describe('a key that is no UTF-8', () => {
  it.each([
    'send orders paid --key "$BYTE"',
    'send orders paid --keys "a,b$BYTE"',
    'queue-of orders a "b$BYTE"',
    'peek orders --key "$BYTE"',
    'dlq list -g mailer --key "$BYTE"',
    'dlq show -g mailer --not-key "$BYTE"',
    'dlq replay -g mailer --all --yes --not-key "a$BYTE"',
  ])('is refused: %s', async (words) => {
    const { db, run, records } = shop()
    await run(['send', 'orders', 'paid', '--key', 'a'])
    const { status, stderr } = await rmqWithByte(db, words)
    expect(status).toBe(2)
    expect(stderr).toContain('not valid UTF-8')
    expect(stderr).toMatch(/U\+FFFD/)
    expect(stderr).toContain('--input ndjson')
    expect(await records('orders')).toHaveLength(1)
  })

  it('is said in NDJSON, where U+FFFD is a character like others', async () => {
    const { run, records } = shop()
    const { status } = await run(['send', 'orders', '--input', 'ndjson'], {
      input: '{"key":"a\\ufffd","body":"1"}\n{"key":"\ufffd","body":"2"}\n',
    })
    expect(status).toBe(0)
    const keys = (await records('orders')).map(({ key }: { key: string }) => key)
    expect(keys.sort()).toEqual(['a\ufffd', '\ufffd'])
  })

  it('survives what is printed and sent again', async () => {
    const { run } = shop()
    await run(['send', 'orders', '--input', 'ndjson'], { input: '{"key":"\ufffd","body":"1"}\n' })
    const { stdout } = await run(['peek', 'orders', '--json'])
    await run(['send', 'copy', '--input', 'ndjson'], { input: stdout })
    const copied = parseLines((await run(['peek', 'copy', '--json'])).stdout)
    expect(copied).toMatchObject([{ key: '\ufffd', body: '1' }])
  })
})

describe('an empty key', () => {
  it.each([
    [['send', 'orders', 'paid', '--key', '']],
    [['peek', 'orders', '--key', '']],
    [['dlq', 'list', '-g', 'mailer', '--key=']],
    [['dlq', 'replay', '-g', 'mailer', '--yes', '--not-key', '']],
  ])('is refused: %j', async (args) => {
    const { run } = shop()
    const { status, stderr } = await run(args)
    expect(status).toBe(2)
    expect(stderr).toContain('the key is empty')
  })
})
