import { type ErrorReport, errorDocument, reportOf } from './error-report.ts'
import { EXIT } from './exit-codes.ts'
import { isReaderGone, type OutputStream } from './output.ts'
import { paint } from './style.ts'
import { type Env, wantsColor } from './terminal.ts'
import { escapeControlsInLines } from './text.ts'

export interface ErrorStreams {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Env
}

/** Tells the user of an error, in the form that the arguments ask for, and returns the exit code. */
export function reportError(error: unknown, argv: readonly string[], streams: ErrorStreams): number {
  if (isReaderGone(error)) return EXIT.ok
  const exit = requestedExit(error)
  if (exit !== undefined) return exit
  const report = reportOf(error)
  if (wantsJson(argv)) streams.stdout.write(`${JSON.stringify(errorDocument(report))}\n`)
  else
    streams.stderr.write(errorText(report, wantsColor(undefined, streams.env, streams.stderr.isTTY === true)))
  if (report.bug !== undefined) streams.stderr.write(bugText(report.bug, streams.env))
  return report.exitCode
}

/** `--json` before a `--`. Looked up by hand, because it counts for errors of the parser too. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}

/** oclif ends by throwing too, after a `--help` for instance. */
function requestedExit(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIT') return undefined
  const oclif = 'oclif' in error ? (error.oclif as { readonly exit?: number }) : undefined
  return oclif?.exit ?? EXIT.ok
}

function errorText(report: ErrorReport, color: boolean): string {
  const lines = [
    `${paint('rmq:', 'red', color)} ${escapeControlsInLines(report.message)} ${paint(`[${report.code}]`, 'dim', color)}`,
  ]
  if (report.why) lines.push(`  ${paint('why:', 'dim', color)}  ${paragraph(report.why)}`)
  if (report.hint) lines.push(`  ${paint('hint:', 'dim', color)} ${paragraph(report.hint)}`)
  return `${lines.join('\n')}\n`
}

/** Its lines stand under the first one, so that a caret in the second points at what it is meant to. */
function paragraph(text: string): string {
  return escapeControlsInLines(text).replaceAll('\n', '\n        ')
}

function bugText(stack: string, env: Env): string {
  const shown =
    env.RMQ_LOG === 'debug' ? `${stack}\n` : '  hint: run it again with RMQ_LOG=debug for the stack\n'
  return `rmq: this is a bug of rmq, not of your command\n${shown}`
}
