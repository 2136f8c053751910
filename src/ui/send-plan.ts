import { RmqError } from '../core/index.ts'
import { refuseDamaged } from './argument-text.ts'
import { type MessageTemplate, messageTemplate, type TemplateFlags } from './input/message-template.ts'
import type { InputFormat } from './input/record-reader.ts'

export interface SendPlanFlags extends TemplateFlags {
  readonly file?: string | undefined
  readonly input?: InputFormat | undefined
  readonly 'key-delimiter'?: string | undefined
  readonly 'key-field'?: string | undefined
  readonly count?: number | undefined
  readonly rate?: number | undefined
  readonly atomic: boolean
}

/** Where messages come from: one body, sent once or several times, or the records of an input. */
export type SendPlan =
  | {
      readonly kind: 'body'
      readonly template: MessageTemplate
      /** The body itself, or the path of a file that holds it, `-` for stdin. */
      readonly body: { readonly text: string } | { readonly path: string }
      readonly count: number
    }
  | {
      readonly kind: 'records'
      readonly template: MessageTemplate
      readonly path: string
      readonly format: InputFormat
      readonly keyDelimiter: string | undefined
      readonly keyField: string | undefined
    }

/**
 * Decides what `send` sends. Stdin is read only when it is asked for (`--input`, `--file -`), or when nothing else
 * was given and it is no terminal: an open pipe that nobody writes to must not hold up `send TOPIC BODY`.
 * INVALID_ARGUMENT for what does not go together.
 */
export function sendPlan(
  topic: string,
  body: string | undefined,
  flags: SendPlanFlags,
  stdinIsTerminal: boolean,
): SendPlan {
  const template = messageTemplate(topic, flags)
  refuseRateOfOne(flags)
  if (body !== undefined || (flags.file !== undefined && flags.input === undefined)) {
    refuse(flags, ['input', 'key-delimiter', 'key-field'], 'they are for input that holds several messages')
    return bodyPlan(template, body, flags)
  }
  if (flags.input === undefined && stdinIsTerminal) throw noBody(topic)
  refuse(flags, ['count'], 'only a BODY or a --file can be repeated')
  const format = flags.input ?? 'lines'
  if (format === 'ndjson') refuse(flags, ['key-delimiter'], 'a line of NDJSON says its key itself')
  else refuse(flags, ['key-field'], 'it needs --input ndjson')
  if (flags['key-delimiter'] === '')
    throw invalid('--key-delimiter is empty', 'give the text between key and body')
  if (flags.key !== undefined && (flags['key-delimiter'] ?? flags['key-field']) !== undefined) {
    throw invalid('--key and keys of the input exclude each other', 'keep one of them')
  }
  return {
    kind: 'records',
    template,
    path: flags.file ?? '-',
    format,
    keyDelimiter: flags['key-delimiter'],
    keyField: flags['key-field'],
  }
}

function bodyPlan(template: MessageTemplate, body: string | undefined, flags: SendPlanFlags): SendPlan {
  const { file, count = 1 } = flags
  if (body !== undefined && file !== undefined)
    throw invalid('BODY and --file exclude each other', 'keep one of them')
  if (body !== undefined) refuseDamaged(body, 'BODY')
  return { kind: 'body', template, count, body: body === undefined ? { path: file ?? '-' } : { text: body } }
}

function refuseRateOfOne({ atomic, rate }: SendPlanFlags): void {
  if (!atomic || rate === undefined) return
  throw invalid('--atomic and --rate exclude each other', 'what is stored in one step has no rate')
}

function refuse(flags: SendPlanFlags, names: readonly (keyof SendPlanFlags)[], why: string): void {
  for (const name of names) {
    if (flags[name] === undefined) continue
    throw new RmqError('INVALID_ARGUMENT', `--${name} does not go with what is sent`, {
      why,
      hint: 'see rmq send --help',
    })
  }
}

function noBody(topic: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', 'there is nothing to send', {
    why: 'no BODY and no --file was given, and stdin is a terminal',
    hint: `rmq send ${topic} 'some text', or pipe messages in, or --input lines to type them`,
  })
}

function invalid(what: string, hint: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', what, { hint })
}
