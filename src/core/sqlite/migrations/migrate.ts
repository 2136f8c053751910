import type Database from 'better-sqlite3'
import { invariant, RmqError } from '../../model/errors.ts'
import type { Runtime } from '../../model/runtime.ts'
import { retryBusy } from '../busy-retry.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './migrations.ts'

/**
 * Brings the file to the newest schema in one transaction. When two processes come at once, the second waits
 * and finds nothing to do. SCHEMA_TOO_NEW when a newer rmq was here.
 */
export function migrate(db: Database.Database, path: string, runtime: Runtime): void {
  const found = schemaVersion(db)
  refuseNewerSchema(path, found)
  if (found === SCHEMA_VERSION) return
  retryBusy(runtime, path, () => db.exec('begin immediate'))
  try {
    const before = schemaVersion(db)
    refuseNewerSchema(path, before)
    for (const [index, migration] of MIGRATIONS.entries()) {
      invariant(migration.version === index + 1, `migration ${migration.name} is number ${index + 1}`)
      if (migration.version > before) db.exec(migration.sql)
    }
    if (before === 0) {
      db.prepare('insert into store (id, store_id, created_at) values (1, ?, ?)').run(
        Math.floor(runtime.random() * 2 ** 32),
        runtime.now(),
      )
    }
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
    db.exec('commit')
  } catch (error) {
    if (db.inTransaction) db.exec('rollback')
    throw error
  }
}

/** Throws SCHEMA_TOO_NEW unless this rmq knows the schema. */
export function refuseNewerSchema(path: string, version: number): void {
  if (version <= SCHEMA_VERSION) return
  throw new RmqError('SCHEMA_TOO_NEW', `${path} was written by a newer rmq`, {
    why: `its schema is version ${version}, this rmq knows versions up to ${SCHEMA_VERSION}`,
    hint: 'upgrade rmq; the file was not changed',
    details: { path, found: version, known: SCHEMA_VERSION },
  })
}

function schemaVersion(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number
}
