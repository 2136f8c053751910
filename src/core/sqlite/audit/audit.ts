import type { AuditFilter, AuditReport } from '../../model/audit.ts'
import type { Store } from '../store.ts'
import { checkAttempts } from './attempts.ts'
import { checkBarriers } from './barriers.ts'
import { checkCommittedOffsets } from './committed-offsets.ts'
import { checkDeadLetters } from './dead-letters.ts'
import { checkDeliveries } from './deliveries.ts'
import { checkParkedKeys } from './parked-keys.ts'
import { checkQueueLocks } from './queue-locks.ts'
import { checkReferences } from './references.ts'
import { checkRetries } from './retries.ts'
import { AuditScope } from './scope.ts'
import { checkStoredMessages } from './stored-messages.ts'

/**
 * Holds what is stored against the invariants, as far as a file can show them: all checks see one snapshot.
 * What only shows over time (which handler ran when) shows of groups that keep a journal; the rest is for the
 * simulation.
 */
export function audit(store: Store, filter: AuditFilter): AuditReport {
  const scope = new AuditScope(store.db, store.storeId, filter)
  store.db.transaction(() => {
    checkStoredMessages(scope)
    checkCommittedOffsets(scope)
    checkAttempts(scope)
    checkDeadLetters(scope)
    checkRetries(scope)
    checkParkedKeys(scope)
    checkQueueLocks(scope)
    checkBarriers(scope)
    checkDeliveries(scope)
    checkReferences(scope)
  })()
  const { checked } = scope
  const violations = scope.violations.sort((a, b) => a.invariant - b.invariant)
  return { violations, checked }
}
