import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { RmqError, systemRuntime } from '../core/index.ts'

/** What the child does: reads records, and answers each with success. */
const PROGRAM = `
let rest = ''
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n')
  rest = lines.pop()
  const answers = lines.map((line) => JSON.stringify({ id: JSON.parse(line).msgId, status: 'success' }) + '\\n')
  process.stdout.write(answers.join(''))
})`

/** How a shell starts the child of a benchmark. */
export function benchChildCommand(): string {
  return `exec ${[process.execPath, '-e', PROGRAM].map(quoted).join(' ')}`
}

/**
 * The child without rmq: `count` records of an id and a body, in batches, each given when the one before was answered.
 * Measures from the first answers to the last ones.
 */
export async function feedBenchChild(
  count: number,
  { batch, size }: { readonly batch: number; readonly size: number },
): Promise<{ readonly count: number; readonly ms: number }> {
  const child = spawn(benchChildCommand(), { shell: true, stdio: ['pipe', 'pipe', 'inherit'] })
  const body = 'x'.repeat(size)
  let given = 0
  const give = () => {
    let text = ''
    for (const end = Math.min(given + batch, count); given < end; given++) {
      text += `${JSON.stringify({ msgId: String(given), body })}\n`
    }
    child.stdin.write(text)
  }
  // It ended too early: what it answered says so.
  child.stdin.on('error', () => {})
  give()
  child.stdout.setEncoding('utf8')
  let rest = ''
  let answered = 0
  let startedAt: number | undefined
  for await (const chunk of child.stdout) {
    startedAt ??= systemRuntime.monotonic()
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (JSON.parse(line).status === 'success') answered++
    if (answered === count) break
    if (answered === given) give()
  }
  const ms = systemRuntime.monotonic() - (startedAt ?? Number.NaN)
  child.stdin.end()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  if (answered === count) return { count, ms }
  throw new RmqError('HANDLER_FAILED', 'the child of the benchmark ended', {
    why: `it answered ${answered} of ${count} records`,
  })
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
