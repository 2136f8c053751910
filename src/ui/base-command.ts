import type { Interfaces } from '@oclif/core'
import { Command } from '@oclif/core/command'
import { type Broker, type OpenBrokerOptions, openBroker, type RmqError } from '../core/index.ts'
import { unshieldValues } from './dashed-values.ts'
import { defaultDbPath } from './db-path.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { globalFlags } from './global-flags.ts'
import { Output } from './output.ts'
import { type Confirmation, confirmDestructive, terminalPrompt } from './prompt.ts'
import { paint } from './style.ts'
import { type ColorChoice, wantsColor } from './terminal.ts'
import { escapeControlsInLines } from './text.ts'

export type FlagsOf<T extends typeof Command> = Interfaces.InferredFlags<typeof globalFlags & T['flags']>
export type ArgsOf<T extends typeof Command> = Interfaces.InferredArgs<T['args']>

/**
 * What all commands have in common: parsed arguments, the database they name, stdout for data, stderr for
 * conversation. Errors are not handled here: they rise to `main`, which knows how to tell them.
 */
export abstract class BaseCommand<T extends typeof Command> extends Command {
  static override baseFlags = globalFlags

  protected flags!: FlagsOf<T>
  protected args!: ArgsOf<T>
  /** stdout. */
  protected out!: Output
  readonly #opened: Broker[] = []

  override async init(): Promise<void> {
    await super.init()
    const { flags, args } = await this.parse(this.ctor)
    this.flags = withFalse(unshieldValues(flags), { ...globalFlags, ...this.ctor.flags }) as FlagsOf<T>
    this.args = args as ArgsOf<T>
    this.out = new Output({
      stream: process.stdout,
      env: process.env,
      color: this.#colorChoice(),
      now: Date.now,
    })
  }

  /** The database file that this command works on. */
  protected get dbPath(): string {
    return this.flags.db || defaultDbPath(process.env)
  }

  /** Opens the broker; it is closed when the command ends. `create: false` for commands that only look. */
  protected async openBroker(options: Omit<OpenBrokerOptions, 'db'> = {}): Promise<Broker> {
    this.detail(`database ${this.dbPath}`)
    const broker = await openBroker({ ...options, db: this.dbPath })
    this.#opened.push(broker)
    return broker
  }

  /** A line on stderr, for people. Not with `--quiet`. */
  protected say(text: string): void {
    if (!this.flags.quiet) process.stderr.write(`${escapeControlsInLines(text)}\n`)
  }

  /** The same, only with `--verbose`. */
  protected detail(text: string): void {
    if (this.flags.verbose) this.say(text)
  }

  /** A line on stderr that stands out: something went on, but not as wished. `--quiet` does not hide it. */
  protected caution(text: string): void {
    const color = wantsColor(this.#colorChoice(), process.env, process.stderr.isTTY === true)
    process.stderr.write(`${paint('warning:', 'yellow', color)} ${escapeControlsInLines(text)}\n`)
  }

  /** The group that was said, else RMQ_GROUP, else `default`, which is never taken without a word. */
  protected groupOrDefault(said: string | undefined): string {
    const group = said ?? (process.env.RMQ_GROUP || undefined)
    if (group !== undefined) return group
    this.say('no group given, using "default" (-g GROUP or RMQ_GROUP names another)')
    return 'default'
  }

  /** True: go on. See `confirmDestructive`. */
  protected confirmDestructive(confirmation: Confirmation): Promise<boolean> {
    return confirmDestructive(confirmation, terminalPrompt(this.flags['no-input'], process.env))
  }

  /**
   * For results that are complete and bad: with `--json` the document on stdout says everything, so only the exit
   * code follows; otherwise the error is told as any other.
   */
  protected failAfterOutput(error: RmqError): void {
    if (!this.flags.json) throw error
    process.exitCode = EXIT_CODES[error.code]
  }

  /** oclif would print and exit here; `main` does both, without cutting off output that is still on its way. */
  protected override catch(error: Error): Promise<never> {
    return Promise.reject(error)
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    const closed = await Promise.allSettled(this.#opened.map((broker) => broker.close()))
    const failed = closed.find((result) => result.status === 'rejected')
    // The first error is the one that explains the others.
    if (failed && !error) throw failed.reason
  }

  #colorChoice(): ColorChoice {
    return this.flags['no-color'] ? 'never' : this.flags.color
  }
}

/** A boolean flag that was not given is false, as its type says; oclif leaves it out. */
function withFalse(flags: object, definitions: Readonly<Record<string, { readonly type: string }>>): object {
  const booleans = Object.entries(definitions).filter(([, { type }]) => type === 'boolean')
  return { ...Object.fromEntries(booleans.map(([name]) => [name, false])), ...flags }
}
