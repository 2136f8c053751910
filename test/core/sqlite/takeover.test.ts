import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker, BrokerNotification } from '../../../src/core/broker.ts'
import { openBroker } from '../../../src/core/open-broker.ts'
import { joinGroup } from '../../helpers/member.ts'
import { tempDb } from '../../helpers/temp.ts'

const OWNER = fileURLToPath(new URL('owner.ts', import.meta.url))

/** Starts a process that owns all queues of the topic. */
async function startOwner(db: string, clientId: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', OWNER, db, 'g', clientId, 't'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  expect(JSON.parse(line as string)).toEqual([true, true])
  return child
}

function nextRebalance(broker: Broker): Promise<void> {
  return new Promise((resolve) => {
    const end = broker.onNotification(({ kind }: BrokerNotification) => {
      if (kind !== 'rebalance') return
      end()
      resolve()
    })
  })
}

it('a member hears of a killed owner and gets its queues at once, not when the lease of 60 s ends', async () => {
  const db = tempDb()
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 2 })
  const owner = await startOwner(db, 'owner')
  const refused = await joinGroup(broker, { group: 'g', clientId: 'heir', topic: 't' })
  const holder = { clientId: 'owner', pid: owner.pid, state: 'alive' }
  expect(refused).toMatchObject([
    { granted: false, holder },
    { granted: false, holder },
  ])
  const rebalanced = nextRebalance(broker)
  owner.kill('SIGKILL')
  await rebalanced
  expect(await broker.memberIds('g', 't')).toEqual(['heir'])
  const dead = { granted: true, epoch: 2, predecessor: 'dead' }
  expect(await joinGroup(broker, { group: 'g', clientId: 'heir', topic: 't' })).toMatchObject([dead, dead])
})

it('a stopped owner keeps its queues: it lives', async () => {
  const db = tempDb()
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 2 })
  const owner = await startOwner(db, 'owner')
  owner.kill('SIGSTOP')
  const grants = await joinGroup(broker, { group: 'g', clientId: 'heir', topic: 't' })
  expect(grants.map(({ granted }) => granted)).toEqual([false, false])
  expect(await broker.listLocks()).toMatchObject([
    { clientId: 'owner', alive: true, state: 'held' },
    { clientId: 'owner', alive: true, state: 'held' },
  ])
})

it('a client id is refused while its process lives, and free when that was killed', async () => {
  const db = tempDb()
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 2 })
  const owner = await startOwner(db, 'worker')
  const join = () => joinGroup(broker, { group: 'g', clientId: 'worker', topic: 't' })
  await expect(join()).rejects.toMatchObject({
    code: 'CLIENT_ID_IN_USE',
    why: expect.stringContaining(`${owner.pid}@`),
  })
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  const heir = { granted: true, epoch: 2, predecessor: 'dead' }
  expect(await join()).toMatchObject([heir, heir])
})
