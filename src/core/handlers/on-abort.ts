const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `fn` when `signal` is aborted; at once when it is already. Returns a function that ends it.
 * All queues of a consumer share one signal, and Node warns of a leak from the eleventh listener on: the signal
 * gets one listener here, however many handlers run.
 */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  if (signal.aborted) {
    fn()
    return () => {}
  }
  let functions = waiting.get(signal)
  if (functions === undefined) {
    functions = new Set()
    waiting.set(signal, functions)
    const all = functions
    signal.addEventListener('abort', () => all.forEach((each) => void each()), { once: true })
  }
  const own = () => fn()
  functions.add(own)
  return () => waiting.get(signal)?.delete(own)
}
