import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { json, withDeadLetters } from '../helpers/dead-letters.ts'
import { cleanEnv, RUN } from '../helpers/rmq.ts'
import { parseLines, shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { buryAll } from '../helpers/undertaker.ts'

const EXPORT = ['dlq', 'export', '-g', 'g']

it('writes one record a line: the message whole, where it came from, and how it died', async () => {
  const { run } = await withDeadLetters(['a', 'good', 'b'])
  const exported = await run(EXPORT)
  expect(exported.status).toBe(0)
  expect(exported.stderr).toContain('exported 2 dead letters of group g')
  const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
  expect(parseLines(exported.stdout)).toEqual(deadLetters)
  expect(parseLines(exported.stdout)[0]).toMatchObject({
    ...{
      topic: 't',
      key: 'k0',
      tags: 'first',
      properties: { trace: '订单', empty: '' },
      body: 'a',
      bodySize: 1,
    },
    ...{
      group: 'g',
      originTopic: 't',
      originQueueId: 0,
      originQueueOffset: 0,
      attempts: 1,
      lastError: 'cannot do a',
    },
    ...{ state: 'dead', replays: 0 },
  })
  // NDJSON with and without --json.
  expect((await run([...EXPORT, '--json'])).stdout).toBe(exported.stdout)
  const some = await run([...EXPORT, '--error-match', 'do b$'])
  expect(parseLines(some.stdout).map(({ body }) => body)).toEqual(['b'])
  expect((await run([...EXPORT, '--state', 'replayed'])).stdout).toBe('')
})

it('can be sent again as it is: bytes, keys, tags and properties', async () => {
  const one = shop()
  const every = Uint8Array.from({ length: 256 }, (_, i) => i)
  const sent = [
    { body: every, key: 'binary', tags: 'T', properties: { name: 'ü "quoted"\n', empty: '' } },
    { body: '\ufeffmark', key: 'ключ', keys: ['one', 'two'] },
    { body: '' },
    { body: '{"key":"not mine"}', key: 'json' },
    { body: 'line\r\nbreaks\t\u0000', key: 'controls' },
  ]
  await seed(one.db, 't', 1, sent)
  const handler = 'cat > /dev/null; exit 65'
  await one.run(['consume', 't', '-g', 'g', '--orderly', '-e', '--exec', handler])
  const { stdoutBytes } = await one.run(EXPORT)
  const again = await one.run(['send', 'again', '--input', 'ndjson'], { input: stdoutBytes })
  expect(again.status).toBe(0)
  const [before, after] = [await one.records('t'), await one.records('again')]
  const sentPart = ({ key, keys, tags, properties, body, bodyBase64 }: (typeof before)[number]) => ({
    ...{ key, keys, tags, properties, body, bodyBase64 },
  })
  expect(after).toHaveLength(sent.length)
  const byKey = (a: { key: string | null }, b: { key: string | null }) =>
    String(a.key).localeCompare(String(b.key))
  expect(after.toSorted(byKey).map(sentPart)).toEqual(before.toSorted(byKey).map(sentPart))
  expect(Buffer.from(before[0].bodyBase64, 'base64')).toEqual(Buffer.from(every))
})

it('changes nothing, and ends quietly when its reader does', async () => {
  const one = shop()
  await seed(
    one.db,
    't',
    1,
    Array.from({ length: 150 }, (_, i) => ({ body: `bad${i}`.padEnd(2000, '.') })),
  )
  await withBroker(one.db, (broker) => buryAll(broker, 't'))
  const script = '"$0" "$@" | head -1'
  const args = ['-c', script, process.execPath, RUN, ...EXPORT]
  const head = spawnSync('sh', args, { env: cleanEnv({ db: one.db }) })
  expect(parseLines(head.stdout.toString())).toHaveLength(1)
  expect(head.stderr.toString()).not.toMatch(/EPIPE|Error/)
  expect(parseLines((await one.run(EXPORT)).stdout)).toHaveLength(150)
})

it('wants the group said', async () => {
  const { run } = await withDeadLetters(['a'])
  expect((await run(['dlq', 'export'], { env: { RMQ_GROUP: 'g' } })).status).toBe(2)
})
