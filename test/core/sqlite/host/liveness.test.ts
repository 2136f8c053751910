import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemHost } from '../../../../src/core/sqlite/host/system-host.ts'
import { systemRuntime } from '../../../../src/core/system-runtime.ts'
import { makeFolder, type Peer, startPeer } from './fixture.ts'

let folder: ReturnType<typeof makeFolder>
let db: string
let clients: string
const peers: Peer[] = []

const peer = async (...args: Parameters<typeof startPeer> extends [string, ...infer R] ? R : never) => {
  const started = await startPeer(db, ...args)
  peers.push(started)
  return started
}

beforeEach(() => {
  folder = makeFolder()
  db = join(folder.path, 'a.db')
  clients = `${db}.clients`
})

afterEach(async () => {
  for (const started of peers.splice(0)) await started.kill()
  folder.remove()
})

test('a lock is seen from another process until its holder is killed, and is free at once then', async () => {
  const { liveness } = systemHost(db, systemRuntime)
  const holder = await peer('hold')
  expect(await holder.line()).toBe('held')
  const file = join(clients, 'peer')

  expect(liveness.isHeld(file)).toBe(true)
  expect(liveness.hold(file)).toBeUndefined()

  await holder.kill()
  expect(liveness.isHeld(file)).toBe(false)

  const handle = liveness.hold(file)
  expect(handle).toBeDefined()
  expect(liveness.isHeld(file)).toBe(true)
  handle?.release()
  expect(liveness.isHeld(file)).toBe(false)
})

test('a stopped process keeps its lock', async () => {
  const { liveness } = systemHost(db, systemRuntime)
  const holder = await peer('hold')
  await holder.line()

  holder.child.kill('SIGSTOP')
  expect(liveness.isHeld(join(clients, 'peer'))).toBe(true)
  expect(liveness.witness(holder.identity)).toBe('runs')
})

test('a released lock is free while its process lives on, and its file is gone', async () => {
  const { liveness } = systemHost(db, systemRuntime)
  const holder = await peer('hold')
  await holder.line()

  holder.say('release')
  expect(await holder.line()).toBe('released')
  expect(liveness.isHeld(join(clients, 'peer'))).toBe(false)
  expect(readdirSync(clients)).toEqual([])
})

test('garbage collection does not take a lock whose handle nobody kept', async () => {
  const { liveness } = systemHost(db, systemRuntime)
  const holder = await peer('hold-and-collect')
  expect(await holder.line()).toBe('collected')
  expect(liveness.isHeld(join(clients, 'peer'))).toBe(true)
})

test('files of one process are locks of their own', () => {
  const { liveness } = systemHost(db, systemRuntime)
  const first = liveness.hold(join(clients, 'one'))
  const second = liveness.hold(join(clients, 'two'))
  expect(liveness.hold(join(clients, 'one'))).toBeUndefined()

  first?.release()
  first?.release()
  expect(liveness.isHeld(join(clients, 'one'))).toBe(false)
  expect(liveness.isHeld(join(clients, 'two'))).toBe(true)
  second?.release()
})

const UNSHARE = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child']
/** Some systems let nobody but root make namespaces. */
const canUnshare = spawnSync(UNSHARE[0] ?? '', [...UNSHARE.slice(1), 'true']).status === 0

test.runIf(canUnshare)(
  'the lock works across pid namespaces, where the second witness sees nothing',
  async () => {
    const { liveness } = systemHost(db, systemRuntime)
    const holder = await peer('hold', UNSHARE)
    expect(await holder.line()).toBe('held')

    expect(holder.identity.pid).toBe(1)
    expect(holder.identity.startTime).not.toBe('')
    expect(liveness.isHeld(join(clients, 'peer'))).toBe(true)
    expect(liveness.witness(holder.identity)).toBe('unseen')

    const { child } = holder
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => liveness.isHeld(join(clients, 'peer')), { timeout: 5_000 }).toBe(false)
  },
)

test('the file is private, stays empty, has no companions, and a look creates nothing', () => {
  const { liveness } = systemHost(db, systemRuntime)
  expect(liveness.isHeld(join(clients, 'nobody'))).toBe(false)
  expect(existsSync(clients)).toBe(false)

  const handle = liveness.hold(join(clients, 'me'))
  expect(readdirSync(clients)).toEqual(['me'])
  expect(statSync(clients).mode & 0o777).toBe(0o700)
  expect(statSync(join(clients, 'me')).mode & 0o777).toBe(0o600)
  expect(statSync(join(clients, 'me')).size).toBe(0)
  handle?.release()
})

test('a file that its dead holder left is free, even when somebody wrote into it', () => {
  const { liveness } = systemHost(db, systemRuntime)
  liveness.hold(join(clients, 'me'))?.release()
  writeFileSync(join(clients, 'stale'), '')
  writeFileSync(join(clients, 'scribbled'), 'x'.repeat(5000))
  expect(liveness.isHeld(join(clients, 'stale'))).toBe(false)
  expect(liveness.isHeld(join(clients, 'scribbled'))).toBe(false)
  liveness.hold(join(clients, 'stale'))?.release()
  expect(existsSync(join(clients, 'stale'))).toBe(false)
})

test('a folder that cannot be made is a clear error', () => {
  const { liveness } = systemHost(db, systemRuntime)
  expect(() => liveness.hold(join(folder.path, 'no', 'such', 'file'))).toThrow(
    expect.objectContaining({ code: 'STORE_UNWRITABLE', message: expect.stringContaining('no/such/file') }),
  )
})
