import { SCHEMA_1 } from '../schema.ts'
import { SCHEMA_2 } from '../schema-2.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** How the schema came to be. Append; never edit what was released, since files in use have gone through it. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'first schema', sql: SCHEMA_1 },
  { version: 2, name: 'delays, concurrent consumption, barriers', sql: SCHEMA_2 },
]

/** The schema that this rmq writes. */
export const SCHEMA_VERSION = MIGRATIONS.length
