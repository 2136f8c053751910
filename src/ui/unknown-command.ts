import type { Config } from '@oclif/core/config'
import { closestName, RmqError } from '../core/index.ts'

/** The error for words that are no command, with the command that was probably meant. */
export function unknownCommand(words: string, config: Config): RmqError {
  const known = config.commands.filter((command) => !command.hidden).map((command) => command.id)
  const closest = closestName(
    words,
    known.map((id) => id.replaceAll(':', ' ')),
  )
  return new RmqError('INVALID_ARGUMENT', `unknown command: ${words}`, {
    hint: closest ? `did you mean: rmq ${closest}` : 'rmq --help lists the commands',
    ...(closest ? { details: { suggestion: closest } } : undefined),
  })
}
