/** Types of judge.mjs, for the tests that use it. */

export interface JournalEntry {
  readonly at: number
  readonly event: 'begin' | 'done'
  readonly consumer: string
  readonly queueId: number
  readonly offset: number
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  readonly outcome?: 'applied' | 'repeat' | 'conflict'
}

export interface Kill {
  readonly at: number
  readonly consumer: string
}

export interface SeenOffset {
  readonly at: number
  readonly queueId: number
  readonly committedOffset: number
}

export interface Case {
  readonly entries: readonly JournalEntry[]
  readonly kills: readonly Kill[]
  readonly seen: readonly SeenOffset[]
  readonly total: number
}

export interface Verdict {
  readonly applied: number
  readonly repeats: number
  readonly problems: readonly string[]
  readonly content: ReadonlyMap<string, string>
}

export function clock(): number
export function readJournals(folder: string): JournalEntry[]
export function readState(folder: string): Map<string, string>
export function parseTree(text: string): Map<string, string>
export function compareTrees(
  expected: ReadonlyMap<string, string>,
  actual: ReadonlyMap<string, string>,
): string[]
export function judge(evidence: Case): Verdict
