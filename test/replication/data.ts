import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { parseTree } from '../../demo/judge.mjs'

/** A history of changes, one NDJSON line each, and the tree that they end in. */
export interface DataSet {
  readonly name: string
  readonly lines: string
  readonly total: number
  readonly tree: ReadonlyMap<string, string>
}

/** Larger histories are not part of the repository: they lie where RMQ_DATA_DIR says, or beside the checkout. */
const FOLDERS = [process.env.RMQ_DATA_DIR, fileURLToPath(new URL('../../../shared/data/', import.meta.url))]
const DEMO = fileURLToPath(new URL('../../demo/', import.meta.url))

/** The history of that name (`bullmq-git`, `litestream-git`), or the one of the demo when it is not there. */
export function loadHistory(name: string): DataSet {
  const folder = FOLDERS.find((each) => each !== undefined && existsSync(join(each, `${name}.ndjson.gz`)))
  if (folder === undefined) {
    return dataSet(
      `demo/history (no ${name} here)`,
      readFileSync(join(DEMO, 'history.ndjson')),
      DEMO,
      'history',
    )
  }
  return dataSet(name, gunzipSync(readFileSync(join(folder, `${name}.ndjson.gz`))), folder, name)
}

function dataSet(name: string, content: Buffer, folder: string, tree: string): DataSet {
  const lines = content.toString('utf8')
  return {
    name,
    lines,
    total: lines.trimEnd().split('\n').length,
    tree: parseTree(readFileSync(join(folder, `${tree}.tree`), 'utf8')),
  }
}
