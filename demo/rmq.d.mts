/** Types of rmq.mjs, for the tests that use it. */
import type { ChildProcess, StdioOptions } from 'node:child_process'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export function start(
  db: string,
  args: readonly string[],
  stdio: StdioOptions,
  options?: { readonly detached?: boolean },
): { readonly child: ChildProcess; readonly ended: Promise<Ended> }
export function rmq(
  db: string,
  args: readonly string[],
  inputPath?: string,
): Promise<{ readonly stdout: string; readonly stderr: string }>
export function rmqJson(db: string, args: readonly string[]): Promise<unknown>
export function quote(text: string): string
