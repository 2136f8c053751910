import type { MemberHeartbeat } from '../model/group.ts'
import type { Store } from './store.ts'
import type { Changes } from './tables/changes.ts'
import type { Refusals } from './tables/refusals.ts'

/**
 * Lets members hear of consumers that their group refused: whoever starts the second one looks at the wrong terminal
 * as often as not. RocketMQ says nothing on either side.
 */
export class RefusedConsumers {
  readonly #store: Store
  readonly #refusals: Refusals
  readonly #changes: Changes
  /** By group id, the number of the last refusal that was told here or came before us. */
  readonly #heard = new Map<number, number>()

  constructor(store: Store, parts: { readonly refusals: Refusals; readonly changes: Changes }) {
    this.#store = store
    this.#refusals = parts.refusals
    this.#changes = parts.changes
  }

  /** Writes down that this client was refused, and what it wanted. Inside a write job. */
  record(groupId: number, { group, clientId }: MemberHeartbeat, wanted: string): void {
    const { pid, host } = this.#store.host.process
    const text = `consumer ${clientId} (${pid}@${host}) wanted to join group ${group} ${wanted}, and was refused`
    this.#refusals.put(groupId, text)
    // Members look when this moves; that they allocate again changes nothing.
    this.#changes.bump('rebalance')
  }

  /** The number of the group's last refusal. Inside the write job that joins it. */
  last(groupId: number): number {
    return this.#refusals.last(groupId)
  }

  /** A client of this process has joined; what was refused before is no news. */
  joined(groupId: number, last: number): void {
    this.#heard.set(groupId, Math.max(last, this.#heard.get(groupId) ?? 0))
  }

  /** What these groups have refused since the last call. */
  news(groups: Iterable<string>): string[] {
    return [...groups].flatMap((group) => {
      const refusal = this.#refusals.byGroup(group)
      if (refusal === undefined) return []
      const heard = this.#heard.get(refusal.groupId)
      // Not joined yet: it would be told of its own refusal.
      if (heard === undefined || refusal.n <= heard) return []
      this.#heard.set(refusal.groupId, refusal.n)
      return [refusal.text]
    })
  }
}
