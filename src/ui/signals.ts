/** A stop that a person or a supervisor asked for. */
export interface StopRequest extends Disposable {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** Which one it was. */
  readonly received: () => NodeJS.Signals | undefined
}

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
type StopSignal = keyof typeof NUMBERS

/**
 * Listens for SIGINT, SIGTERM and SIGHUP until it is disposed of. The first one asks for a clean stop,
 * the second one ends the process at once, with 128 + its number.
 */
export function listenForStop(): StopRequest {
  const controller = new AbortController()
  let received: StopSignal | undefined
  const onSignal = (name: NodeJS.Signals) => {
    if (received) process.exit(stopExitCode(name))
    received = name as StopSignal
    controller.abort()
  }
  for (const name of Object.keys(NUMBERS)) process.on(name, onSignal)
  return {
    signal: controller.signal,
    received: () => received,
    [Symbol.dispose]: () => {
      for (const name of Object.keys(NUMBERS)) process.off(name, onSignal)
    },
  }
}

/** What a shell expects of a process that a signal ended. */
export function stopExitCode(name: NodeJS.Signals): number {
  return 128 + (NUMBERS[name as StopSignal] ?? 0)
}
