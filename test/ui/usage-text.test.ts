import { describe, expect, it } from 'vitest'
import { usageText } from '../../src/ui/usage-text.ts'

const HELP = '\nSee more help with --help'

describe('usageText', () => {
  it.each([
    ['what needs no change', 'Unexpected argument: b', 'Unexpected argument: b'],
    ['colours', '\u001b[31mUnexpected argument: b\u001b[39m', 'Unexpected argument: b'],
    ['a value', 'Parsing --offset \n\t"soon" is not an offset', '--offset: "soon" is not an offset'],
    [
      'an argument',
      'Missing 1 required arg:\ntopic  The topic, or several:\n       orders,payments.',
      'TOPIC is missing',
    ],
    [
      'arguments, without the note behind them',
      'Missing 2 required args:\ntopic  The topic.\nkeys   The keys.\n\nNote: --x allows multiple values.',
      'TOPIC and KEYS are missing',
    ],
    [
      'a flag that needs another',
      'The following error occurred:\n  All of the following must be provided when using --plan: --queues',
      '--plan needs --queues',
    ],
    [
      'flags that exclude each other, told from both sides',
      'The following errors occurred:\n  --delay-level=3 cannot also be provided when using --delay\n' +
        '  --delay=1000 cannot also be provided when using --delay-level',
      '--delay and --delay-level exclude each other',
    ],
    [
      'several flags',
      'The following errors occurred:\n  Missing required flag group\n  Missing required flag to',
      '--group is missing; --to is missing',
    ],
  ])('%s', (_, message, expected) => {
    expect(usageText(message + HELP)).toBe(expected)
  })
})
