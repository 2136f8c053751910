import { expect, it } from 'vitest'
import { shop } from '../helpers/shop.ts'

const lines = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`)

it('prints nothing, and has stored all of it when it ends', async () => {
  const { run, records } = shop()
  const send = await run(['send', 't', '--oneway', '--key', 'k'], { input: lines(2500).join('\n') })
  expect(send).toMatchObject({ status: 0, stdout: '' })
  expect(send.stderr).toMatch(/sent 2,500 messages to t in /)
  expect((await records('t')).map(({ body }) => body)).toEqual(lines(2500))
})

it('prints nothing with --json either', async () => {
  const { run, records } = shop()
  expect(await run(['send', 't', 'x', '--oneway', '--json'])).toMatchObject({ status: 0, stdout: '' })
  expect(await records('t')).toMatchObject([{ body: 'x' }])
})

it('loses what cannot be stored, sends the rest, and says so', async () => {
  const { run, records } = shop()
  await run(['topics', 'create', 't', '--max-body', '4'])
  const send = await run(['send', 't', '--oneway', '--json'], { input: 'one\ntoo long\ntwo\n' })
  expect(send.status).toBe(6)
  expect(JSON.parse(send.stdout).error).toMatchObject({
    code: 'PARTIAL',
    message: expect.stringContaining('1 of 3 messages were lost'),
    details: { sent: 2, lost: 1, cause: 'MESSAGE_TOO_LARGE' },
  })
  expect((await records('t')).map(({ body }) => body).sort()).toEqual(['one', 'two'])
})

it.each([
  [['send', 't', 'x', '--no-create'], 3, 'TOPIC_NOT_FOUND'],
  [['send', 't', 'x', '-p', '8'], 3, 'QUEUE_NOT_FOUND'],
  [['send', 't', 'x', '--selector', 'mod', '--key', 'no'], 2, 'SELECTOR_FAILED'],
  [['send', 't', 'x', '--atomic'], 2, 'INVALID_ARGUMENT'],
])('%j --oneway ends with %d when nothing was stored', async (args, status, code) => {
  const { run } = shop()
  const send = await run([...args, '--oneway', '--json'])
  expect(send.status).toBe(status)
  expect(JSON.parse(send.stdout).error.code).toBe(code)
})
