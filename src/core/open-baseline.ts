import type { RawBaseline, RawBaselineOptions } from './sqlite/bench-baseline.ts'
import { systemRuntime } from './system-runtime.ts'

/** Opens what `rmq bench` compares with: plain better-sqlite3 on a file of its own. For nothing else. */
export async function openBaseline(options: Omit<RawBaselineOptions, 'runtime'>): Promise<RawBaseline> {
  // Loaded here, like the broker: the native module loads only where it is used.
  const { rawBaseline } = await import('./sqlite/bench-baseline.ts')
  return rawBaseline({ ...options, runtime: systemRuntime })
}
