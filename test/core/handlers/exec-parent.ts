import { ExecHandler } from '../../../src/core/handlers/exec-handler.ts'
import { consume, contextOf } from './fixture.ts'

/** A parent to be killed: prints the pid of its handler's process, and another line once that may run, or never. */
const [command = '', when] = process.argv.slice(2)
const say = (text: string) => process.stdout.write(`${text}\n`)

const context = contextOf(async ({ pid }) => {
  say(String(pid))
  if (when === 'never') await new Promise((resolve) => setTimeout(resolve, 60_000))
  setTimeout(() => say('may run'), 50)
  return true
})
await consume(new ExecHandler({ command }), undefined, context)
