import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SignalFile } from '../../../../src/core/sqlite/host/signal-file.ts'
import { makeFolder, type Peer, startPeer, until } from './fixture.ts'

let folder: ReturnType<typeof makeFolder>
let db: string
let wakeUp: SignalFile
let peer: Peer | undefined

beforeEach(() => {
  folder = makeFolder()
  db = join(folder.path, 'a.db')
  wakeUp = new SignalFile(`${db}.signal`)
})

afterEach(async () => {
  wakeUp.close()
  await peer?.kill()
  peer = undefined
  folder.remove()
})

test('a touch of another process wakes every listener, and no longer those that left', async () => {
  let first = 0
  let second = 0
  const leave = wakeUp.watch(() => first++)
  wakeUp.watch(() => second++)
  peer = await startPeer(db, 'touch')

  peer.say('touch')
  await peer.line()
  await until(() => first > 0 && second > 0, 'the first wake-up')

  leave()
  const before = { first, second }
  peer.say('touch')
  await peer.line()
  await until(() => second > before.second, 'the second wake-up')
  expect(first).toBe(before.first)
})

test('the file is private and one byte long', () => {
  for (let i = 0; i < 3; i++) wakeUp.touch()
  expect(statSync(`${db}.signal`).size).toBe(1)
  expect(statSync(`${db}.signal`).mode & 0o777).toBe(0o600)
})

test('watching goes on after the last listener left and another came', async () => {
  wakeUp.watch(() => {})()
  let woken = 0
  wakeUp.watch(() => woken++)
  wakeUp.touch()
  await until(() => woken > 0, 'the wake-up')
})

test('a watcher alone keeps no process alive', () => {
  const module = JSON.stringify(new URL('../../../../src/core/sqlite/host/signal-file.ts', import.meta.url))
  const script = `import { SignalFile } from ${module}
    new SignalFile(${JSON.stringify(`${db}.signal`)}).watch(() => {})`
  const args = ['--import', 'tsx', '--input-type=module', '-e', script]
  const run = spawnSync(process.execPath, args, { timeout: 8_000 })
  expect(run.signal).toBeNull()
  expect(run.status).toBe(0)
})

test('what cannot be written or watched fails in silence', async () => {
  const nowhere = new SignalFile(join(folder.path, 'no', 'such', 'folder'))
  nowhere.touch()
  nowhere.watch(() => {})()
  nowhere.close()

  wakeUp.watch(() => {})
  rmSync(`${db}.signal`)
  wakeUp.touch()
  wakeUp.close()
  wakeUp.touch()
  expect(existsSync(`${db}.signal`)).toBe(false)
})

test('a planted link is not followed', async () => {
  const victim = join(folder.path, 'victim')
  writeFileSync(victim, 'precious')
  symlinkSync(victim, `${db}.signal`)
  wakeUp.touch()
  expect(await readFile(victim, 'utf8')).toBe('precious')
})
