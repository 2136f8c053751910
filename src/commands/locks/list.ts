import { boolean } from '@oclif/core/flags'
import { BaseCommand } from '../../ui/base-command.ts'
import { lockColumns } from '../../ui/columns.ts'
import { explicitGroupFlag, topicFlag } from '../../ui/flags.ts'
import { lockFilterOf } from '../../ui/lock-filter.ts'
import { printLockEvents } from '../../ui/lock-watch-command.ts'
import { lockRecord } from '../../ui/records.ts'

export default class LocksList extends BaseCommand<typeof LocksList> {
  static override summary = 'List queue locks: who owns which queue, and until when.'
  static override hiddenAliases = ['lock:list']
  static override flags = {
    group: explicitGroupFlag({ description: 'Only locks of this group.' }),
    topic: topicFlag(),
    watch: boolean({ char: 'w', description: 'Go on with what happens to them, until it is stopped.' }),
  }
  static override examples = [
    '<%= config.bin %> locks list',
    '<%= config.bin %> locks list -g mailer -w',
    "<%= config.bin %> locks list --json | jq '.locks[] | select(.alive | not)'",
  ]

  async run(): Promise<void> {
    const filter = lockFilterOf(this.flags)
    const broker = await this.openBroker({ create: false })
    const locks = await broker.listLocks(filter)
    const { json, watch } = this.flags
    if (json && watch) for (const lock of locks) await this.out.record({ event: 'held', ...lockRecord(lock) })
    else if (json) await this.out.json({ locks: locks.map(lockRecord) })
    else {
      if (locks.length === 0) this.say('no locks are held')
      await this.out.table(lockColumns, locks)
    }
    if (watch) await printLockEvents(broker, filter, this.out, json)
  }
}
