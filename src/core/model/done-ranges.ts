/** Offsets `from` to before `to`. */
export type DoneRange = readonly [from: number, to: number]

/** How far a group is in a queue: all below `offset` is done with, and of what lies beyond, `ahead`. */
export interface Done {
  readonly offset: number
  /** Ascending, disjoint, not touching each other, and none begins at `offset`. */
  readonly ahead: readonly DoneRange[]
}

/** What is done with in either: the larger offset, and the union of the ranges beyond it. */
export function mergeDone(a: Done, b: Done): Done {
  let offset = Math.max(a.offset, b.offset)
  const ahead: [number, number][] = []
  for (const [from, to] of [...a.ahead, ...b.ahead].sort((x, y) => x[0] - y[0])) {
    if (to <= offset) continue
    const last = ahead.at(-1)
    if (from <= offset) offset = to
    else if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else ahead.push([from, to])
  }
  return { offset, ahead }
}

/** Beyond this nothing is done with. */
export function doneEnd({ offset, ahead }: Done): number {
  return ahead.at(-1)?.[1] ?? offset
}

/** How many offsets the ranges hold. */
export function countRanges(ranges: readonly DoneRange[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from, 0)
}
