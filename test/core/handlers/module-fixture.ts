import { writeFileSync } from 'node:fs'
import { ModuleHandler, type ModuleHandlerOptions } from '../../../src/core/handlers/module-handler.ts'
import type { makeFolder } from './fixture.ts'

export type ModuleOptions = Partial<ModuleHandlerOptions> & { readonly name?: string }

/** A handler of a module with this text. */
export function openModule(
  folder: ReturnType<typeof makeFolder>,
  source: string,
  { name = 'handler.mjs', ...options }: ModuleOptions = {},
): { readonly file: string; readonly handler: ModuleHandler } {
  const file = folder.file(name)
  writeFileSync(file, source)
  return { file, handler: new ModuleHandler({ file, killGraceMs: 300, ...options }) }
}

/** A module whose messages say what its listener shall do: each body is the body of an async function. */
export const OBEDIENT = `
const AsyncFunction = (async () => {}).constructor
const listen = (work) => new AsyncFunction("message", "context", work)
export default async (message, context) => await listen(message.text())(message, context)
`
