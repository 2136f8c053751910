import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { invariant } from './model/errors.ts'

/** What the kernel says of one process. */
export interface ProcessEntry {
  /** `R`, `S`, `T`, `Z` and so on (proc(5)). */
  readonly state: string
  readonly processGroup: number
  /** Clock ticks from boot to its start: with the pid it names one process of this boot. */
  readonly startTime: string
}

/** Fields of /proc/<pid>/stat behind the command's name, 0-based. */
const STAT_STATE = 0
const STAT_PROCESS_GROUP = 2
const STAT_START_TIME = 19

/**
 * Whether /proc shows the pids that this process uses. It does not where there is none, or where it was mounted
 * for another pid namespace: its numbers then belong to other processes.
 */
const isProcOurs = readOrUndefined(() => readlinkSync('/proc/self')) === String(process.pid)

/** `undefined` when there is no such process, or when it cannot be seen. */
export function readProcess(pid: number): ProcessEntry | undefined {
  if (!isProcOurs) return undefined
  const stat = readOrUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  return stat === undefined ? undefined : parseStat(stat)
}

/**
 * The kernel's start time of a living process; empty where that cannot be had, and then the pid has to do.
 * Without an argument: of this process, also when /proc is another namespace's.
 */
export function startTimeOf(pid?: number): string {
  if (pid !== undefined && pid !== process.pid) return readProcess(pid)?.startTime ?? ''
  const stat = readOrUndefined(() => readFileSync('/proc/self/stat', 'latin1'))
  return stat === undefined ? '' : (parseStat(stat)?.startTime ?? '')
}

/**
 * Whether that very process runs. A zombie does not: it holds nothing and does nothing, and in a container
 * whose first process reaps nobody it stays for ever. What cannot be disproved counts as running.
 */
export function isProcessRunning(pid: number, startTime: string): boolean {
  if (!canSignal(pid)) return false
  const entry = readProcess(pid)
  if (entry === undefined) return true
  return isAlive(entry) && (startTime === '' || entry.startTime === startTime)
}

/** Whether any process of the group runs; zombies do not count. */
export function isGroupRunning(processGroup: number): boolean {
  if (!canSignal(-processGroup)) return false
  if (!isProcOurs) return true
  let seen = false
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const entry = readProcess(Number(name))
    if (entry?.processGroup !== processGroup) continue
    if (isAlive(entry)) return true
    seen = true
  }
  // Signalled, yet no member to be found: /proc hides the processes of other users (hidepid).
  return !seen && canSignal(-processGroup)
}

/** Sends a signal to every process of a group. A group that is gone is none of the caller's worries. */
export function signalGroup(processGroup: number, signal: NodeJS.Signals): void {
  invariant(processGroup > 1, `${processGroup} is not the process group of a child`)
  try {
    process.kill(-processGroup, signal)
  } catch (error) {
    if (!isErrno(error, 'ESRCH') && !isErrno(error, 'EPERM')) throw error
  }
}

/** The command's name may hold spaces and brackets of its own: the fields begin behind the last bracket. */
export function parseStat(stat: string): ProcessEntry | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields[STAT_STATE]
  const processGroup = Number(fields[STAT_PROCESS_GROUP])
  const startTime = fields[STAT_START_TIME]
  if (state === undefined || startTime === undefined || !Number.isInteger(processGroup)) return undefined
  return { state, processGroup, startTime }
}

function isAlive(entry: ProcessEntry): boolean {
  return entry.state !== 'Z' && entry.state !== 'X'
}

/** Whether a signal would reach somebody: EPERM means that there is one, of another user. */
function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return isErrno(error, 'EPERM')
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function readOrUndefined(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
