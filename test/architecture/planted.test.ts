import { describe, expect, test } from 'vitest'
import { forbiddenArrows } from './arrows.ts'
import { fileCycles, zoneCycles } from './cycles.ts'
import { importsOf } from './imports.ts'
import { ambientUses, strayStatements } from './purity.ts'

const one = (path: string, text: string) => new Map([[path, text]])
const arrowsOf = (path: string, text: string) => forbiddenArrows(importsOf(one(path, text)))

describe('a forbidden arrow is seen', () => {
  test.each([
    ['src/core/client/producer.ts', "import { EmbeddedBroker } from '../sqlite/embedded-broker.ts'"],
    ['src/core/client/producer.ts', "import type { Store } from '../sqlite/store.ts'"],
    ['src/core/client/producer.ts', "export { Store } from '../sqlite/store.ts'"],
    ['src/core/client/producer.ts', "export * from '../remoting/codec.ts'"],
    ['src/core/client/producer.ts', "const load = async () => await import('../sqlite/store.ts')"],
    ['src/core/client/producer.ts', 'const load = async (name: string) => await import(name)'],
    ['src/core/client/producer.ts', "let store: import('../sqlite/store.ts').Store"],
    ['src/core/client/producer.ts', "import { openBroker } from '../index.ts'"],
    ['src/core/ops/replay.ts', "import '../sqlite/store.ts'"],
    ['src/core/handlers/exec-handler.ts', "import '../sqlite/store.ts'"],
    ['src/core/sqlite/store.ts', "import { Producer } from '../client/producer.ts'"],
    ['src/core/model/names.ts', "import type { Broker } from '../broker.ts'"],
    ['src/core/model/names.ts', "import { z } from 'zod'"],
    ['src/core/model/names.ts', "import { readFileSync } from 'node:fs'"],
    ['src/core/broker.ts', "import type { Producer } from './client/producer.ts'"],
    ['src/core/index.ts', "import chalk from 'chalk'"],
    ['src/core/ops/verify.ts', "import { Command } from '@oclif/core'"],
    ['src/ui/output.ts', "import { Producer } from '../core/client/producer.ts'"],
    ['src/ui/output.ts', "import Send from '../commands/send.ts'"],
    ['src/commands/send.ts', "import { openBroker } from '../core/open-broker.ts'"],
    ['src/commands/send.ts', "import Database from 'better-sqlite3'"],
    ['src/elsewhere/thing.ts', "import '../core/index.ts'"],
  ])('%s: %s', (path, text) => {
    expect(arrowsOf(path, text)).toHaveLength(1)
  })
})

test.each([
  ['src/commands/send.ts', "import { Producer } from '../core/index.ts'"],
  ['src/commands/dlq/list.ts', "import { BaseCommand } from '../../ui/base-command.ts'"],
  ['src/core/client/producer.ts', "import type { Broker } from '../broker.ts'"],
  ['src/core/sqlite/tables/topics.ts', "import type Database from 'better-sqlite3'"],
  ['src/core/model/schemas/message.ts', "import { z } from 'zod'"],
])('an allowed arrow is left alone, %s: %s', (path, text) => {
  expect(arrowsOf(path, text)).toEqual([])
})

describe('a cycle is seen', () => {
  const ring = (kind: string) =>
    importsOf(
      new Map([
        ['src/core/model/a.ts', "import { b } from './b.ts'"],
        ['src/core/model/b.ts', "import { c } from './c.ts'"],
        ['src/core/model/c.ts', `${kind} { a } from './a.ts'`],
        ['src/core/model/d.ts', "import { a } from './a.ts'"],
      ]),
    )

  test('between files at run time, and only its members are named', () => {
    expect(fileCycles(ring('import'))).toEqual([
      'src/core/model/a.ts <-> src/core/model/b.ts <-> src/core/model/c.ts',
    ])
  })

  test('not where one side is types only, within one zone', () => {
    expect(fileCycles(ring('import type'))).toEqual([])
    expect(zoneCycles(ring('import type'))).toEqual([])
  })

  test('of a file with itself', () => {
    const self = importsOf(one('src/ui/a.ts', "import * as a from './a.ts'"))
    expect(fileCycles(self)).toEqual(['src/ui/a.ts'])
  })

  test('between zones, by types too', () => {
    const pair = importsOf(
      new Map([
        ['src/core/client/a.ts', "import type { B } from '../ops/b.ts'"],
        ['src/core/ops/b.ts', "import type { A } from '../client/a.ts'"],
      ]),
    )
    expect(zoneCycles(pair)).toEqual(['core/client <-> core/ops'])
  })
})

describe('the outside world in core is seen', () => {
  test.each([
    'const t = Date.now()',
    'const t = new Date()',
    'const t = Date()',
    'const r = Math.random()',
    'setTimeout(() => {}, 1)',
    'const later = setImmediate',
    'globalThis.setInterval(() => {}, 1)',
    'const t = performance.now()',
    'const t = process.hrtime.bigint()',
    'const signal = AbortSignal.timeout(5)',
    "import { setTimeout as sleep } from 'node:timers/promises'",
    "import { randomUUID } from 'node:crypto'",
    'process.exit(1)',
    'process.stdout.write("x")',
    'console.log("x")',
  ])('%s', (text) => {
    expect(ambientUses(one('src/core/client/a.ts', text))).not.toEqual([])
    expect(ambientUses(one('src/core/handlers/a.ts', text))).not.toEqual([])
    expect(ambientUses(one('src/core/system-runtime.ts', text))).toEqual([])
    expect(ambientUses(one('src/core/sqlite/host/clock.ts', text))).toEqual([])
    expect(ambientUses(one('src/ui/progress.ts', text))).toEqual([])
  })

  test.each([
    'const t = new Date(stamp)',
    'runtime.now()',
    '// Date.now() would do',
    'const text = "Date.now()"',
  ])('but not in %s', (text) => {
    expect(ambientUses(one('src/core/client/a.ts', text))).toEqual([])
  })
})

describe('a stray statement is seen', () => {
  test.each([
    "const sql = 'select max_offset from queue where id = ?'",
    'const sql = `\n  insert into queue (id) values (?)`',
    'const sql = `update $' + '{table} set a = 1`',
    "const sql = 'DELETE FROM queue'",
    "const sql = 'pragma data_version'",
    "const sql = 'begin immediate'",
    "const sql = 'create table t (a)'",
  ])('%s', (text) => {
    expect(strayStatements(one('src/core/client/a.ts', text))).toHaveLength(1)
    expect(strayStatements(one('src/core/sqlite/tables/a.ts', text))).toEqual([])
  })

  test.each(["const help = 'Create a topic'", "const help = 'messages select a queue from the topic'"])(
    'but not in %s',
    (text) => {
      expect(strayStatements(one('src/commands/a.ts', text))).toEqual([])
    },
  )
})
