import { boolean, custom, option } from '@oclif/core/flags'

const GLOBAL = 'GLOBAL'

/** Flags that every command takes. This one definition serves parsing, help and the manifest. */
export const globalFlags = {
  db: custom<string>()({
    description: 'Database file (default $XDG_DATA_HOME/rmq/rmq.db).',
    env: 'RMQ_DB',
    helpGroup: GLOBAL,
    helpValue: 'PATH',
  }),
  json: boolean({ description: 'JSON on stdout, errors too.', helpGroup: GLOBAL }),
  quiet: boolean({ char: 'q', description: 'Nothing on stderr but errors.', helpGroup: GLOBAL }),
  verbose: boolean({ description: 'More on stderr.', exclusive: ['quiet'], helpGroup: GLOBAL }),
  color: option({
    options: ['auto', 'always', 'never'] as const,
  })({ description: 'When to use colours (default auto).', helpGroup: GLOBAL }),
  'no-color': boolean({ description: 'Same as --color never.', exclusive: ['color'], helpGroup: GLOBAL }),
  'no-input': boolean({ description: 'Never ask; fail where a question would be.', helpGroup: GLOBAL }),
  'no-progress': boolean({ description: 'No progress line.', helpGroup: GLOBAL }),
}
