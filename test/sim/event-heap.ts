/** Something that happens at a virtual time. Those of one time happen in the order in which they were scheduled. */
export interface ScheduledEvent {
  /** Virtual monotonic milliseconds. */
  readonly at: number
  readonly order: number
}

/** A binary heap: the earliest event first. */
export class EventHeap<E extends ScheduledEvent> {
  readonly #events: E[] = []

  get size(): number {
    return this.#events.length
  }

  push(event: E): void {
    const events = this.#events
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(at, parent)) break
      this.#swap(at, parent)
      at = parent
    }
  }

  pop(): E | undefined {
    const events = this.#events
    const first = events[0]
    const last = events.pop()
    if (first === undefined || last === undefined || events.length === 0) return first
    events[0] = last
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      if (left >= events.length) return first
      const right = left + 1
      const child = right < events.length && this.#isBefore(right, left) ? right : left
      if (!this.#isBefore(child, at)) return first
      this.#swap(child, at)
      at = child
    }
  }

  #isBefore(i: number, j: number): boolean {
    const [a, b] = [this.#events[i] as E, this.#events[j] as E]
    return a.at < b.at || (a.at === b.at && a.order < b.order)
  }

  #swap(i: number, j: number): void {
    const events = this.#events
    ;[events[i], events[j]] = [events[j] as E, events[i] as E]
  }
}
