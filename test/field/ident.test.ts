import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE } from '../helpers/consumer.ts'
import { cleanEnv, RUN } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

/** A process namespace of its own; with it goes everything in it. Without root it takes a user namespace as well. */
const UNSHARE = [
  ['-p', '-f', '--kill-child=KILL'],
  ['-U', '-r', '-p', '-f', '--kill-child=KILL'],
].find((args) => spawnSync('unshare', [...args, 'true']).status === 0)

it.runIf(UNSHARE)('two consumers that both are process 1 of their container are two members', async () => {
  const { db, run } = shop()
  await seed(
    db,
    't',
    8,
    Array.from({ length: 8 }, (_, queueId) => ({ body: `m${queueId}`, queueId })),
  )
  await using broker = await openBroker({ db })
  const contained = ['first', 'second'].map(() => {
    const args = [...(UNSHARE ?? []), process.execPath, RUN, 'consume', 't', '-g', 'g', '--orderly']
    const child = spawn('unshare', args, { env: cleanEnv({ db }), stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const exited = once(child, 'exit')
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await exited
    })
    return { child, stdout: () => stdout, stderr: () => stderr }
  })
  const shares = async () => {
    const owned = new Map<string, number>()
    for (const { clientId } of await broker.listLocks()) owned.set(clientId, (owned.get(clientId) ?? 0) + 1)
    return [...owned.values()]
  }
  await expect.poll(shares, PATIENCE).toEqual([4, 4])
  const members = await broker.members('g')
  expect(new Set(members.map(({ clientId }) => clientId)).size).toBe(2)
  expect(new Set((await broker.listLocks()).map(({ pid }) => pid))).toEqual(new Set([1]))

  // The one outlives the other, although neither sees the process of the other.
  contained[0]?.child.kill('SIGKILL')
  await expect.poll(shares, PATIENCE).toEqual([8])
  await run(['send', 't', 'last', '-q'])
  await expect.poll(() => contained[1]?.stdout(), PATIENCE).toContain('last\n')
  const bodies = contained
    .map(({ stdout }) => stdout())
    .join('')
    .trimEnd()
    .split('\n')
  expect(new Set(bodies)).toEqual(new Set([...Array.from({ length: 8 }, (_, i) => `m${i}`), 'last']))
  expect(contained[1]?.stderr()).not.toMatch(/error|unproven/i)
})
