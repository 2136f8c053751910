import { string } from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import { Help } from '@oclif/core/help'
import { helpTexts } from '../ui/help-texts.ts'

export default class HelpCommand extends Command {
  static override summary = `Show the help of a command, or of: ${Object.keys(helpTexts).join(', ')}.`
  static override args = {
    words: string({ description: 'A command or one of the words above.', multiple: true, ignoreStdin: true }),
  }
  static override examples = ['<%= config.bin %> help locks release', '<%= config.bin %> help exit-codes']

  async run(): Promise<void> {
    const { args } = await this.parse(HelpCommand)
    const words: readonly string[] = args.words ?? []
    const text = words.length === 1 && words[0] !== undefined ? helpTexts[words[0]] : undefined
    if (text !== undefined) process.stdout.write(text)
    else await new Help(this.config, { ...this.config.pjson.oclif.helpOptions }).showHelp([...words])
  }

  protected override catch(error: Error): Promise<never> {
    return Promise.reject(error)
  }
}
