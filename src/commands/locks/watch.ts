import { BaseCommand } from '../../ui/base-command.ts'
import { explicitGroupFlag, topicFlag } from '../../ui/flags.ts'
import { lockFilterOf } from '../../ui/lock-filter.ts'
import { printLockEvents } from '../../ui/lock-watch-command.ts'

export default class LocksWatch extends BaseCommand<typeof LocksWatch> {
  static override summary =
    'Print what happens to queue locks: acquired, renewed, released, lost, taken-over.'
  static override hiddenAliases = ['lock:watch']
  static override flags = {
    group: explicitGroupFlag({ description: 'Only locks of this group.' }),
    topic: topicFlag(),
  }
  static override examples = [
    '<%= config.bin %> locks watch',
    '<%= config.bin %> locks watch -g mailer --json',
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker({ create: false })
    await printLockEvents(broker, lockFilterOf(this.flags), this.out, this.flags.json)
  }
}
