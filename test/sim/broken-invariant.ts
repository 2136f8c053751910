/** Something happened that must not, whatever the schedule. Numbers are those of the list of invariants. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
  /** 1 to 9; 0: no progress, or an end with an error. */
  readonly invariant: number

  constructor(invariant: number, detail: string) {
    super(`invariant ${invariant}: ${detail}`)
    this.invariant = invariant
  }
}

export function hold(condition: unknown, invariant: number, detail: () => string): asserts condition {
  if (!condition) throw new BrokenInvariant(invariant, detail())
}
