import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { RUN } from '../../helpers/rmq.ts'
import { tempFolder } from '../../helpers/temp.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** What a program says of a message that it gives to a handler module. */
function answerOf(library: string, nodeOptions: readonly string[] = []): string {
  const folder = tempFolder()
  writeFileSync(join(folder, 'h.mjs'), 'export default (message) => "dead-letter"')
  const program = join(folder, 'program.mjs')
  writeFileSync(
    program,
    `import { ModuleHandler } from '${pathToFileURL(library).href}'
const handler = new ModuleHandler({ file: 'h.mjs' })
const message = { msgId: '0A', topic: 't', brokerName: 'b', queueId: 0, queueOffset: 0, key: null, keys: [], tags: null,
  properties: {}, body: Buffer.from('x'), bornTimestamp: 0, storeTimestamp: 0, reconsumeTimes: 0 }
const context = { group: 'g', mq: { topic: 't', brokerName: 'b', queueId: 0 }, attempt: 1, signal: new AbortController().signal,
  runsIn: async () => true }
console.log(JSON.stringify(await handler.consume([message], context)))
await handler.close()`,
  )
  return execFileSync(process.execPath, [...nodeOptions, program], { cwd: folder, encoding: 'utf8' })
}

test('the thread is found in the build', () => {
  expect(answerOf(join(dirname(RUN), '..', 'dist', 'core', 'index.js'))).toBe('{"status":"dead-letter"}\n')
})

test('the thread is found in the sources, by the loader that runs them', () => {
  const loader = pathToFileURL(join(ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs')).href
  const answer = answerOf(join(ROOT, 'src', 'core', 'index.ts'), ['--import', loader])
  expect(answer).toBe('{"status":"dead-letter"}\n')
})
