import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the handlers of a test do: the share of runs that end in each way, the same for the same seed. */
export interface HandlerPlan {
  readonly log: string
  /** `null`: by chance, so that a message which always died of its first attempt may succeed in a later replay. */
  readonly seed: number | null
  readonly failPercent: number
  readonly rejectPercent: number
  /** They succeed, after `slowMs`. */
  readonly slowPercent: number
  readonly slowMs: number
  /** How long the others take. */
  readonly workMs: number
  /** Messages of this key fail as long as the file is there, and never else. */
  readonly stuck?: { readonly key: string; readonly file: string }
}

/** The handler for `--pipe`. */
export function pipeCommand(plan: HandlerPlan): string {
  const path = fileURLToPath(new URL('piped.mjs', import.meta.url))
  return `exec '${process.execPath}' '${path}' '${JSON.stringify(plan)}'`
}

/** The handler for `--exec`, in sh: a Node process for each message would be all that a test does. */
export function execCommand(plan: HandlerPlan, folder: string): string {
  const path = join(folder, 'handler.sh')
  writeFileSync(path, script(plan))
  return `exec sh '${path}'`
}

function script({ log, seed, failPercent, rejectPercent, slowPercent, slowMs, workMs, stuck }: HandlerPlan) {
  return `
IFS= read -r n || :
attempt=$((RMQ_RECONSUME_TIMES + 1))
note() { printf '%s\\n' "$1 $$ $PPID $n $RMQ_KEY $attempt $(date +%s%3N)" >> '${log}'; }
say() { note "$1"; [ "$1" = success ] || echo "no ($attempt)" >&2; exit "$2"; }
note start
x=$(( (n * 7919 + attempt * 5003 + ${seed ?? 0} * 31) % 10007 ))
fate=$(( x * x * x % 10007 % 100 ))
if [ $fate -ge ${100 - slowPercent} ]; then sleep ${slowMs / 1000}; else sleep ${workMs / 1000}; fi
if [ "$RMQ_KEY" = '${stuck?.key ?? '-'}' ]; then
  [ -e '${stuck?.file ?? ''}' ] && say retry 1
  say success 0
fi
[ $fate -lt ${rejectPercent} ] && say dead-letter 65
[ $fate -lt ${rejectPercent + failPercent} ] && say retry 1
say success 0
`
}
