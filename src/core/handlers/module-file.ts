import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { RmqError } from '../model/errors.ts'
import type { LoadError } from './module-protocol.ts'

const TYPESCRIPT = ['.ts', '.mts', '.cts']
const CHECK_MS_MAX = 5_000

/** The file's URL. HANDLER_NOT_FOUND when it is not there, or when this Node cannot read its language. */
export function moduleUrl(file: string): string {
  const path = resolve(file)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined)
    throw unloadable(
      file,
      `there is no file ${path}`,
      'check the path; it is relative to the working directory',
    )
  if (!stat.isFile()) throw unloadable(file, `${path} is no file`, 'name a file, not a folder')
  if (TYPESCRIPT.includes(extname(path)) && !canRunTypeScript()) {
    throw unloadable(
      file,
      `Node ${process.version} does not run TypeScript`,
      'run rmq with Node 22.18 or newer, or compile the handler to .mjs',
    )
  }
  return pathToFileURL(path).href
}

/** Node says so itself, from the versions on that can: `strip`, `transform`, or false where it was switched off. */
export function canRunTypeScript(): boolean {
  return Boolean(Reflect.get(process.features, 'typescript'))
}

/** A module that is there but cannot be loaded, with the place that its error names. `ours` is no such place. */
export async function loadFailure(file: string, reason: LoadError, ours: string): Promise<RmqError> {
  const at =
    placeIn(reason.stack, ours) ?? (reason.name === 'SyntaxError' ? await syntaxPlace(file) : undefined)
  const what = reason.name === '' ? reason.message : `${reason.name}: ${reason.message}`
  const why = at === undefined ? what : `${what}, at ${at}`
  const hint =
    reason.name === ''
      ? 'a handler module has a default export: export default async (message, context) => { … }'
      : `mend the module; "node ${file}" shows the same error`
  return unloadable(file, why, hint, at)
}

export function unloadable(file: string, why: string, hint: string, at?: string): RmqError {
  const details = { file: resolve(file), ...(at === undefined ? undefined : { at }) }
  return new RmqError('HANDLER_NOT_FOUND', `the handler cannot be loaded: ${file}`, { why, hint, details })
}

/** `path:line` or `path:line:column` of the first line of a stack that names a file of the user's. */
function placeIn(stack: string, ours: string): string | undefined {
  const lines = stack.split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.includes(ours) || line.includes('(node:')) continue
    const found = /(?:^|\(|\s)((?:file:\/\/)?\/.+?:\d+(?::\d+)?)\)?$/.exec(line)?.[1]
    if (found !== undefined) return withColumn(asPath(found), lines[index + 2])
  }
  return undefined
}

/** Below the place and its source line an error of syntax has a line of carets. */
function withColumn(place: string, carets: string | undefined): string {
  const column = /^\s*\^+$/.test(carets ?? '') ? (carets?.indexOf('^') ?? 0) + 1 : undefined
  return column === undefined ? place : `${place}:${column}`
}

function asPath(place: string): string {
  const [, url = '', position = ''] = /^(file:.*?)((?::\d+){1,2})$/.exec(place) ?? []
  return url === '' ? place : fileURLToPath(url) + position
}

/** Node tells the place of an error of syntax only where nobody catches it: asked once more, without running it. */
function syntaxPlace(file: string): Promise<string | undefined> {
  return new Promise((done) => {
    const options = { timeout: CHECK_MS_MAX, encoding: 'utf8' } as const
    execFile(process.execPath, ['--check', resolve(file)], options, (_error, _stdout, stderr) =>
      done(placeIn(stderr, '(node:')),
    )
  })
}
