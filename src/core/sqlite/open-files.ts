import { type BigIntStats, statSync } from 'node:fs'

/** Device and inode: what a file is, whatever its name. */
export type FileIdentity = string

/** Which file `path` is now, `undefined` when there is none. Only `stat`, which is safe beside open connections. */
export function fileIdentity(path: string): FileIdentity | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false }) as BigIntStats | undefined
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}

const connections = new Map<FileIdentity, number>()

/**
 * Files that this process has open through SQLite. Closing any other descriptor of such a file drops SQLite's
 * locks on it (POSIX), so nobody may read it with `fs`, not even its header.
 */
export const openFiles = {
  has(file: FileIdentity): boolean {
    return connections.has(file)
  },
  add(file: FileIdentity): void {
    connections.set(file, (connections.get(file) ?? 0) + 1)
  },
  remove(file: FileIdentity): void {
    const left = (connections.get(file) ?? 0) - 1
    if (left > 0) connections.set(file, left)
    else connections.delete(file)
  },
}
