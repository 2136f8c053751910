import type { Groups } from './tables/groups.ts'

/**
 * Groups that are disabled (RocketMQ `consumeEnable`, whose broker answers their pulls with NO_PERMISSION). Here their
 * members are allocated nothing: running handlers end and are committed, queues are given back, and all of it is taken
 * up again when the group is enabled.
 */
export class ConsumeGate {
  readonly #groups: Groups
  readonly #notice: (text: string) => void
  readonly #closed = new Set<string>()

  constructor(groups: Groups, notice: (text: string) => void) {
    this.#groups = groups
    this.#notice = notice
  }

  /** Whether the group may consume. Tells the members of this process when that has changed; not inside write jobs. */
  isOpen(group: string): boolean {
    const isOpen = this.#groups.byName(group)?.consumeEnable !== 0
    if (isOpen && this.#closed.delete(group)) this.#notice(`group ${group} is enabled again`)
    if (!isOpen && !this.#closed.has(group)) {
      this.#closed.add(group)
      this.#notice(
        `group ${group} is disabled: nothing is consumed until it is enabled ` +
          `(rmq groups alter ${group} --consume-enable)`,
      )
    }
    return isOpen
  }
}
