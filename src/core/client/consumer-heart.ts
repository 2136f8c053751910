import type { Runtime } from '../model/runtime.ts'
import { sleep } from '../model/runtime.ts'

/** Something that is done again and again in the background: heartbeat and renewal. */
export interface Beat {
  /** Ends it; resolves when the last one is over, since a heartbeat behind the farewell would join again. */
  stop(): Promise<void>
}

/** Calls `beat` every `everyMs`. What fails is told, and tried again at the next beat. */
export function startBeat(
  runtime: Runtime,
  everyMs: number,
  beat: () => Promise<void>,
  onError: (error: unknown) => void,
): Beat {
  const stopping = new AbortController()
  const beating = (async () => {
    for (;;) {
      await sleep(runtime, everyMs, stopping.signal)
      if (stopping.signal.aborted) return
      try {
        await beat()
      } catch (error) {
        onError(error)
      }
    }
  })()
  return {
    stop: () => {
      stopping.abort()
      return beating
    },
  }
}
