import { boolean, integer } from '@oclif/core/flags'
import { type LockRelease, type QueueLock, RmqError } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { destructiveFlags, explicitGroupFlag, topicFlag } from '../../ui/flags.ts'
import { lockFilterOf } from '../../ui/lock-filter.ts'
import { requireGroup, requireTopic } from '../../ui/lookup.ts'
import { refuseDryRunWithYes } from '../../ui/prompt.ts'
import { lockReleaseRecord } from '../../ui/records.ts'

export default class LocksRelease extends BaseCommand<typeof LocksRelease> {
  static override summary = 'Free queue locks from outside.'
  static override description =
    'Without --force only locks whose owner is dead or whose lease has ended are freed. With it a living owner ' +
    'loses its lock too: the epoch is raised, so that its next commit is refused, and what it had not committed ' +
    'is delivered again to the next owner.'
  static override hiddenAliases = ['lock:release']
  static override flags = {
    topic: topicFlag({ description: 'Topic of the queues.', required: true }),
    group: explicitGroupFlag({ required: true }),
    queue: integer({
      char: 'p',
      description: 'Only this queue.',
      min: 0,
      exactlyOne: ['queue', 'all'],
      helpValue: 'ID',
    }),
    all: boolean({ description: 'All queues of the topic.', exactlyOne: ['queue', 'all'] }),
    force: boolean({ description: 'Take locks from living owners too.' }),
    ...destructiveFlags,
  }
  static override examples = [
    '<%= config.bin %> locks release --topic orders -g mailer -p 3 --dry-run',
    '<%= config.bin %> locks release --topic orders -g mailer --all --force --yes',
  ]

  async run(): Promise<void> {
    refuseDryRunWithYes(this.flags)
    const { group, topic, force } = this.flags
    const filter = lockFilterOf(this.flags)
    const broker = await this.openBroker({ create: false })
    await requireTopic(broker, topic)
    await requireGroup(broker, group)
    const locks = await broker.listLocks(filter)
    if (this.flags['dry-run'] || locks.length === 0)
      return this.#print(locks.map((lock) => foretell(lock, force)))
    const agreed = await this.confirmDestructive({
      action: `release ${locks.length} ${locks.length === 1 ? 'lock' : 'locks'} of group ${group} on topic ${topic}`,
      yes: this.flags.yes,
    })
    if (!agreed) return this.say('nothing was changed')
    const releases = await broker.releaseLocks(filter, { force })
    const kept = releases.filter(({ outcome }) => outcome === 'kept')
    if (kept.length > 0 && kept.length === releases.length) throw lockHeld(kept)
    await this.#print(releases)
    if (kept.length > 0) this.failAfterOutput(lockHeld(kept, 'PARTIAL'))
  }

  async #print(releases: readonly LockRelease[]): Promise<void> {
    const dryRun = this.flags['dry-run']
    if (this.flags.json) return this.out.json({ released: releases.map(lockReleaseRecord), dryRun })
    if (releases.length === 0) this.say('no lock is held there')
    await this.out.table(
      [
        { header: 'TOPIC', value: ({ lock }) => lock.mq.topic },
        { header: 'QUEUE', value: ({ lock }) => lock.mq.queueId },
        { header: 'GROUP', value: ({ lock }) => lock.group },
        { header: 'OWNER', value: ({ lock }) => lock.clientId },
        { header: 'EPOCH', value: ({ lock }) => lock.epoch },
        { header: 'OUTCOME', value: ({ outcome }) => outcome },
      ],
      releases,
    )
    if (dryRun) this.say('dry run: nothing was changed')
    else if (releases.length > 0) this.say(`rmq locks list -g ${this.flags.group} shows who takes them`)
  }
}

function foretell(lock: QueueLock, force: boolean): LockRelease {
  return { lock, outcome: force || lock.state !== 'held' ? 'released' : 'kept' }
}

function lockHeld(kept: readonly LockRelease[], code: 'LOCK_HELD' | 'PARTIAL' = 'LOCK_HELD'): RmqError {
  const owners = [...new Set(kept.map(({ lock }) => `${lock.clientId} (pid ${lock.pid} on ${lock.host})`))]
  return new RmqError(code, `${kept.length} locks have living owners and were kept`, {
    why: `held by ${owners.join(', ')}`,
    hint: 'stop the owner, or add --force: its next commit is refused then',
    details: { kept: kept.map(lockReleaseRecord) },
  })
}
