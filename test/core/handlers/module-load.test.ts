import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ModuleHandler } from '../../../src/core/handlers/module-handler.ts'
import { type Collected, collect, consume, contextOf, makeFolder, messageOf } from './fixture.ts'
import { type ModuleOptions, openModule } from './module-fixture.ts'

let folder: ReturnType<typeof makeFolder>
let stderr: Collected
let handler: ModuleHandler
let offset = 0

const open = (source: string, options: ModuleOptions = {}) => {
  const opened = openModule(folder, source, { onStderr: stderr.push, ...options })
  handler = opened.handler
  return opened.file
}
const say = (text: string, context = contextOf()) =>
  consume(handler, [messageOf({ queueOffset: ++offset, text })], context)

beforeEach(() => {
  folder = makeFolder()
  stderr = collect()
})
afterEach(async () => {
  await handler.close()
  folder.remove()
})

describe('a module that cannot be loaded is HANDLER_NOT_FOUND', () => {
  const failure = () =>
    handler.open().then(
      () => expect.unreachable(),
      (error) => error,
    )

  test('when there is none', async () => {
    handler = new ModuleHandler({ file: folder.file('none.mjs') })
    expect(await failure()).toMatchObject({
      code: 'HANDLER_NOT_FOUND',
      message: `the handler cannot be loaded: ${folder.file('none.mjs')}`,
      why: `there is no file ${folder.file('none.mjs')}`,
    })
    handler = new ModuleHandler({ file: folder.path })
    expect(await failure()).toMatchObject({ code: 'HANDLER_NOT_FOUND', why: `${folder.path} is no file` })
  })

  test.each([
    [
      'no default export',
      'export const handle = () => {}',
      'the default export is missing; it exports handle',
      '',
    ],
    ['nothing', '', 'the default export is missing; it exports nothing', ''],
    ['no function', 'export default { a: 1 }', 'the default export is no function; it exports default', ''],
    [
      'an error of syntax',
      'export default () => {\n  const a = ;\n}',
      "SyntaxError: Unexpected token ';'",
      ':2:13',
    ],
    ['an error at its top', 'const a = 1\nthrow new TypeError("no config")', 'TypeError: no config', ':2:7'],
    [
      'a name that is not exported',
      'import { nothing } from "node:fs"\nexport default nothing',
      "SyntaxError: The requested module 'node:fs' does not provide an export named 'nothing'",
      ':1:10',
    ],
    [
      'a promise that nobody keeps',
      'await new Promise(() => {})',
      'it awaits something at its top level that never comes',
      '',
    ],
    ['something else thrown', 'throw "a text"', 'a text', ''],
  ])('with %s', async (_what, source, why, at) => {
    const file = open(source)
    expect(await failure()).toMatchObject({
      code: 'HANDLER_NOT_FOUND',
      why: at === '' ? why : `${why}, at ${file}${at}`,
      hint: expect.any(String),
    })
  })

  test('and the first message says the same, without a result of its own', async () => {
    open('export const handle = 1')
    await expect(say('')).rejects.toMatchObject({ code: 'HANDLER_NOT_FOUND' })
  })

  test('with a package that is not there', async () => {
    open('import "no-such-package"\nexport default () => {}')
    expect(await failure()).toMatchObject({
      why: expect.stringContaining("Cannot find package 'no-such-package'"),
    })
  })

  test('or TypeScript runs, where Node can', async () => {
    open('export default (message: { text(): string }): string => message.text()', { name: 'handler.ts' })
    if (Reflect.get(process.features, 'typescript')) {
      expect(await say('dead-letter')).toEqual({ status: 'dead-letter' })
      return
    }
    expect(await failure()).toMatchObject({
      code: 'HANDLER_NOT_FOUND',
      why: `Node ${process.version} does not run TypeScript`,
      hint: expect.stringContaining('.mjs'),
    })
  })

  test('a CommonJS module is as good', async () => {
    open('module.exports = (message) => message.text()', { name: 'handler.cjs' })
    expect(await say('dead-letter')).toEqual({ status: 'dead-letter' })
    await handler.close()
    const file = open('module.exports = 1\n\nconst ;', { name: 'bad.cjs' })
    expect(await failure()).toMatchObject({ why: `SyntaxError: Unexpected token ';', at ${file}:3:7` })
  })
})
