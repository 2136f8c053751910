import { string } from '@oclif/core/args'
import { type AuditReport, RmqError, verify } from '../core/index.ts'
import { BaseCommand } from '../ui/base-command.ts'
import { explicitGroupFlag } from '../ui/flags.ts'

export default class Verify extends BaseCommand<typeof Verify> {
  static override summary = 'Check the invariants on what is stored.'
  static override description =
    'Reads everything, changes nothing. Exit 0 when all holds, 5 when something does not; each violation is named.'
  static override args = {
    topic: string({ description: 'Only this topic.', ignoreStdin: true }),
  }
  static override flags = {
    group: explicitGroupFlag({ description: 'Only this group.' }),
  }
  static override examples = [
    '<%= config.bin %> verify',
    "<%= config.bin %> verify orders -g mailer --json | jq '.violations'",
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker({ create: false })
    const report = await verify(broker, {
      ...(this.args.topic === undefined ? undefined : { topic: this.args.topic }),
      ...(this.flags.group === undefined ? undefined : { group: this.flags.group }),
    })
    await this.#print(report)
    const { violations } = report
    if (violations.length === 0) return
    this.failAfterOutput(
      new RmqError(
        'CHECK_FAILED',
        violations.length === 1 ? '1 violation' : `${violations.length} violations`,
        {
          why: `invariants ${[...new Set(violations.map((violation) => violation.invariant))].sort().join(', ')} do not hold`,
          hint: 'ARCHITECTURE.md lists the invariants by number; keep a copy of the file before anything else',
        },
      ),
    )
  }

  async #print({ violations, checked }: AuditReport): Promise<void> {
    if (this.flags.json) return this.out.json({ violations, checked })
    await this.out.table(
      [
        { header: 'INVARIANT', value: (violation) => violation.invariant, style: () => 'red' },
        { header: 'TOPIC', value: (violation) => violation.topic },
        { header: 'QUEUE', value: (violation) => violation.queueId },
        { header: 'GROUP', value: (violation) => violation.group },
        { header: 'OFFSET', value: (violation) => violation.offset },
        { header: 'DETAIL', value: (violation) => violation.detail },
      ],
      violations,
    )
    const counts = Object.entries(checked).flatMap(([what, n]) => (n > 0 ? `${spaced(what)} ${n}` : []))
    const all = violations.length === 0 ? '; all invariants hold' : ''
    this.say(`checked: ${counts.join(', ') || 'nothing is stored'}${all}`)
  }
}

/** `deadLetters` as people write it. */
function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
