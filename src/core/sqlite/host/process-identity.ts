import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { HandlerProcess, ProcessIdentity } from '../../model/lock.ts'
import { isGroupRunning, isProcessRunning, readProcess, startTimeOf } from '../../process-table.ts'

/**
 * Where the system has no boot id. All boots then look like one: a lock that a crash of the whole machine left
 * may wait for its lease. An id computed from the wall clock was rejected: when the clock steps, two living
 * processes would take each other for ghosts.
 */
const NO_BOOT_ID = 'none'
const NO_PID_NAMESPACE = 'none'

/** This process, in a form that another one can check. */
export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    host: hostname(),
    bootId: bootId(),
    pidNamespace: attempt(() => readlinkSync('/proc/self/ns/pid')) ?? NO_PID_NAMESPACE,
    startTime: startTimeOf(),
  }
}

/** Whether `other` is still there, as `observer` can see it. */
export function witness(observer: ProcessIdentity, other: ProcessIdentity): 'runs' | 'gone' | 'unseen' {
  if (!canSee(observer, other)) return 'unseen'
  return isProcessRunning(other.pid, other.startTime) ? 'runs' : 'gone'
}

/**
 * Whether a handler provably runs: its leader, or, when that is gone, a process of its group.
 * False when it cannot be seen: nothing is proved then, and the lease decides.
 */
export function handlerRuns(
  observer: ProcessIdentity,
  owner: ProcessIdentity,
  handler: HandlerProcess,
): boolean {
  if (!canSee(observer, owner)) return false
  if (isProcessRunning(handler.pid, handler.startTime)) return true
  const successor = readProcess(handler.pid)
  // The kernel gives a number to a new process only when no process and no group has it any more.
  const isPidUsedAgain =
    successor !== undefined && handler.startTime !== '' && successor.startTime !== handler.startTime
  return !isPidUsedAgain && isGroupRunning(handler.pid)
}

/** Pids say something only within one boot and one pid namespace. */
function canSee(observer: ProcessIdentity, other: ProcessIdentity): boolean {
  if (observer.bootId !== other.bootId || observer.pidNamespace !== other.pidNamespace) return false
  return observer.bootId !== NO_BOOT_ID || observer.host === other.host
}

function bootId(): string {
  const id =
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ??
    (process.platform === 'darwin' ? attempt(darwinBootId) : undefined)
  return id || NO_BOOT_ID
}

function darwinBootId(): string {
  return execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim()
}

function attempt(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
