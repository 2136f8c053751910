import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Env } from './terminal.ts'

/**
 * The database that is used when neither `--db` nor RMQ_DB names one: `$XDG_DATA_HOME/rmq/rmq.db`, where
 * XDG_DATA_HOME counts only when it is an absolute path, as its specification says.
 */
export function defaultDbPath(env: Env): string {
  return join(dataHome(env), 'rmq', 'rmq.db')
}

function dataHome(env: Env): string {
  if (env.XDG_DATA_HOME && isAbsolute(env.XDG_DATA_HOME)) return env.XDG_DATA_HOME
  if (process.platform === 'win32' && env.LOCALAPPDATA) return env.LOCALAPPDATA
  return join(env.HOME || homedir(), '.local', 'share')
}
