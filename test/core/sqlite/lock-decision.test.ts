import { describe, expect, it } from 'vitest'
import { decideLock, type LockEntry, type OwnerView } from '../../../src/core/sqlite/lock-decision.ts'

const free: LockEntry = { epoch: 7, clientId: null, lostBy: null }
const others: LockEntry = { epoch: 7, clientId: 'other', lostBy: null }
const fresh = (state: OwnerView['state']): OwnerView => ({ state, leaseLeftMs: 1 })
const ended = (state: OwnerView['state']): OwnerView => ({ state, leaseLeftMs: 0 })

describe('decideLock', () => {
  it.each<[string, LockEntry | undefined, OwnerView | null, object]>([
    ['no entry', undefined, null, { kind: 'grant', epoch: 1, predecessor: 'none' }],
    ['given back', free, null, { kind: 'grant', epoch: 8, predecessor: 'released' }],
    [
      'freed, owner died',
      { ...free, lostBy: 'dead' },
      null,
      { kind: 'grant', epoch: 8, predecessor: 'dead' },
    ],
    [
      'freed, expired',
      { ...free, lostBy: 'expired' },
      null,
      { kind: 'grant', epoch: 8, predecessor: 'expired' },
    ],
    [
      'freed by force',
      { ...free, lostBy: 'forced' },
      null,
      { kind: 'grant', epoch: 8, predecessor: 'forced' },
    ],
    ['mine', { ...others, clientId: 'me' }, null, { kind: 'renew', epoch: 7 }],
    ['alive', others, fresh('alive'), { kind: 'refuse', state: 'alive' }],
    ['alive, lease over', others, ended('alive'), { kind: 'grant', epoch: 8, predecessor: 'expired' }],
    ['dead', others, fresh('dead'), { kind: 'grant', epoch: 8, predecessor: 'dead' }],
    ['dead, lease over', others, ended('dead'), { kind: 'grant', epoch: 8, predecessor: 'dead' }],
    ['witnesses contradict', others, fresh('unproven'), { kind: 'refuse', state: 'unproven' }],
    [
      'contradict, lease over',
      others,
      ended('unproven'),
      { kind: 'grant', epoch: 8, predecessor: 'expired' },
    ],
    ['handler at work', others, fresh('handler-running'), { kind: 'refuse', state: 'handler-running' }],
    [
      'handler, lease over',
      others,
      ended('handler-running'),
      { kind: 'grant', epoch: 8, predecessor: 'dead' },
    ],
  ])('%s', (_name, entry, owner, decision) => {
    const view = () => {
      if (owner === null) throw new Error('nobody was to be looked at')
      return owner
    }
    expect(decideLock(entry, 'me', view)).toEqual(decision)
  })
})
