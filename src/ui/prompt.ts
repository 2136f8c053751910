import { RmqError } from '../core/index.ts'
import { type Env, isCi } from './terminal.ts'
import { escapeControls } from './text.ts'

/** What a person is asked before something is taken away. */
export interface Confirmation {
  /** What will happen, as a sentence without its end: `release 3 locks of group mailer`. */
  readonly action: string
  /** `--yes` was given. */
  readonly yes?: boolean
  /** Severe changes: `--confirm NAME` in place of `--yes`, and the name typed in place of a y. */
  readonly name?: string
  /** What `--confirm` was given. */
  readonly confirm?: string
}

/** Where questions are asked: stderr and stdin, so that stdout stays data. */
export interface PromptPort {
  /** Both ends are a terminal, and nobody said `--no-input`. */
  readonly interactive: boolean
  ask(question: string): Promise<string>
}

/**
 * True: go on. False: a person said no. Where nobody can be asked it fails and names the flag, so that a script
 * never hangs and never destroys something by default.
 *
 * @throws RmqError CONFIRMATION_REQUIRED
 */
export async function confirmDestructive(confirmation: Confirmation, port: PromptPort): Promise<boolean> {
  const { action, name } = confirmation
  if (name === undefined ? confirmation.yes : confirmation.confirm === name) return true
  if (name !== undefined && confirmation.confirm !== undefined) {
    throw new RmqError('CONFIRMATION_REQUIRED', `--confirm ${confirmation.confirm} is not ${name}`, {
      why: `to ${action} its name must be repeated exactly`,
      hint: `say --confirm ${name}`,
    })
  }
  const flag = name === undefined ? '--yes' : `--confirm ${name}`
  if (!port.interactive) {
    throw new RmqError('CONFIRMATION_REQUIRED', `to ${action} needs a confirmation`, {
      why: 'there is no terminal to ask at',
      hint: `add ${flag}, or --dry-run to see what would happen`,
      details: { flag },
    })
  }
  const answer = await port.ask(
    name === undefined
      ? `${sentence(action)}? [y/N] `
      : `${sentence(action)}? Type ${escapeControls(name)} to go on: `,
  )
  return name === undefined ? /^y(es)?$/i.test(answer.trim()) : answer.trim() === name
}

/** @throws RmqError INVALID_ARGUMENT when both are given: nobody knows which one was meant. */
export function refuseDryRunWithYes(flags: { readonly 'dry-run': boolean; readonly yes: boolean }): void {
  if (!flags['dry-run'] || !flags.yes) return
  throw new RmqError('INVALID_ARGUMENT', '--dry-run and --yes exclude each other', {
    hint: 'keep one of them',
  })
}

/** The real port. readline loads only when there is a question. */
export function terminalPrompt(noInput: boolean, env: Env): PromptPort {
  return {
    interactive: !noInput && !isCi(env) && process.stdin.isTTY === true && process.stderr.isTTY === true,
    ask: async (question) => {
      const { createInterface } = await import('node:readline')
      const terminal = createInterface({ input: process.stdin, output: process.stderr })
      return new Promise<string>((resolve, reject) => {
        const interrupted = new RmqError('INTERRUPTED', 'interrupted at the question: nothing was changed')
        terminal.once('SIGINT', () => reject(interrupted))
        // The end of the input is no answer, and no answer is a no.
        terminal.once('close', () => resolve(''))
        terminal.question(question, resolve)
      }).finally(() => terminal.close())
    },
  }
}

function sentence(action: string): string {
  return escapeControls(action.charAt(0).toUpperCase() + action.slice(1))
}
