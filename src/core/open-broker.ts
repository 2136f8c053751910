import type { Broker } from './broker.ts'
import type { Runtime } from './model/runtime.ts'
import { driverMissing } from './sqlite/store-errors.ts'
import { systemRuntime } from './system-runtime.ts'

export interface OpenBrokerOptions {
  /** Path of the SQLite file. */
  readonly db: string
  /** `full` (default): a send is acknowledged when it is on the disk. `normal`: safe against crashes, not power cuts. */
  readonly durability?: 'full' | 'normal'
  /** Make the file, and its folder, when missing. Default true; false: a missing file is an empty store. */
  readonly create?: boolean
  readonly runtime?: Runtime
}

/**
 * Opens a broker. STORE_NOT_A_DATABASE, STORE_DAMAGED, STORE_UNWRITABLE, STORE_DRIVER_MISSING, SCHEMA_TOO_NEW.
 * Close it, or declare it with `await using`.
 */
export async function openBroker(options: OpenBrokerOptions): Promise<Broker> {
  const runtime = options.runtime ?? systemRuntime
  // Loaded here, so that what needs no store works without its native module.
  const { loadEmbeddedBroker } = await import('./sqlite/load.ts').catch((error: unknown) => {
    throw driverMissing(error) ?? error
  })
  return loadEmbeddedBroker({
    path: options.db,
    durability: options.durability ?? 'full',
    create: options.create ?? true,
    runtime,
  })
}
