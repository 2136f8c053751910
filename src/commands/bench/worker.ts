import { BaseCommand } from '../../ui/base-command.ts'
import { serveBench } from '../../ui/bench-worker.ts'

export default class BenchWorker extends BaseCommand<typeof BenchWorker> {
  static override hidden = true
  static override summary = 'One process of a benchmark; started by the others.'

  async run(): Promise<void> {
    await serveBench()
  }
}
