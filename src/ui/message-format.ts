import { boolean, custom } from '@oclif/core/flags'
import { type MessageExt, recordLine } from '../core/index.ts'
import { applyFormat, bufferOf, type CompiledFormat, compileFormat, textOf } from './format-language.ts'
import { paint } from './style.ts'
import { escapeControls, escapeControlsInJson } from './text.ts'

export interface MessageFormatOptions {
  /** A format of the language of `-f`. */
  readonly format?: string | undefined
  /** Body and newline. */
  readonly raw?: boolean
  /** Body and NUL. */
  readonly raw0?: boolean
  /** The message record as one line. */
  readonly json?: boolean
  /** A person looks at it: nothing of a message is obeyed by the terminal. */
  readonly terminal: boolean
  readonly color?: boolean
}

/** Writes one message as bytes. `running` is its number among those printed, from 1. */
export type MessageFormatter = (message: MessageExt, running: number) => Buffer

const NEWLINE = Buffer.from('\n')
const NUL = Buffer.from('\0')

/** Flags of every command that prints messages; `--json` is a global one. */
export const messageFormatFlags = {
  format: custom<string>()({
    char: 'f',
    description:
      'Print each message so: %t topic %p queue %o offset %k key %s body … (see rmq help formatting).',
    helpValue: 'FORMAT',
    exclusive: ['raw', 'raw0', 'json'],
  }),
  raw: boolean({ description: 'Print the body and a newline.', exclusive: ['raw0', 'json'] }),
  raw0: boolean({ description: 'Print the body and a NUL.', exclusive: ['json'] }),
}

/**
 * How messages are printed. Without a choice: the body and a newline; on a terminal queue, offset and key stand in
 * front. A terminal gets control characters as escapes in every form; to anything else bytes go as they are.
 * INVALID_ARGUMENT for a malformed format.
 */
export function messageFormatter(options: MessageFormatOptions): MessageFormatter {
  const { terminal } = options
  if (options.format !== undefined) return byFormat(compileFormat(options.format), terminal)
  if (options.json) return terminal ? jsonForPeople : (message) => Buffer.from(`${recordLine(message)}\n`)
  if (options.raw0) return (message) => Buffer.concat([terminal ? rawForPeople(message) : message.body, NUL])
  if (options.raw)
    return (message) => Buffer.concat([terminal ? rawForPeople(message) : message.body, NEWLINE])
  if (terminal) return (message) => textForPeople(message, options.color === true)
  return (message) => Buffer.concat([message.body, NEWLINE])
}

/** One message at once; `messageFormatter` is the way for many. */
export function formatMessage(
  message: MessageExt,
  options: MessageFormatOptions & { readonly running?: number },
): Buffer {
  return messageFormatter(options)(message, options.running ?? 1)
}

function byFormat(format: CompiledFormat, terminal: boolean): MessageFormatter {
  const show = terminal ? showToPeople : (value: string | Uint8Array) => value
  return (message, running) => applyFormat(format, message, running, show)
}

function showToPeople(value: string | Uint8Array): string {
  return escapeControls(typeof value === 'string' ? value : textOf(value))
}

function textForPeople(message: MessageExt, color: boolean): Buffer {
  const place = `${message.queueId}:${message.queueOffset} ${escapeControls(message.key ?? '-')}`
  return Buffer.from(`${paint(place, 'dim', color)}  ${showToPeople(message.body)}\n`)
}

/** Line ends and tabs are the body's own layout; everything else that a terminal obeys is escaped. */
function rawForPeople({ body }: MessageExt): Buffer {
  return Buffer.from(
    textOf(bufferOf(body))
      .split(/(\r?\n|\t)/)
      .map((part, i) => (i % 2 === 1 ? part : escapeControls(part)))
      .join(''),
  )
}

function jsonForPeople(message: MessageExt): Buffer {
  return Buffer.from(`${escapeControlsInJson(recordLine(message))}\n`)
}
