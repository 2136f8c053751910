/** A handler's run. */
export interface Run {
  readonly pid: number
  readonly key: string
  readonly round: number
  readonly queueId: number
}

export function parseRuns(journal: string): Run[] {
  // The last line may have been cut short by a kill.
  return journal
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [pid, key = '', round, queueId] = line.split(' ')
      return { pid: Number(pid), key, round: Number(round), queueId: Number(queueId) }
    })
}

/**
 * What is wrong with the runs: each key's rounds follow one another. Only behind a consumer that was killed may a key
 * go back, since what it had not committed comes again.
 */
export function judgeRuns(runs: readonly Run[], killed: ReadonlySet<number>): string[] {
  const problems: string[] = []
  const last = new Map<string, Run>()
  for (const run of runs) {
    const before = last.get(run.key)
    const expected = (before?.round ?? -1) + 1
    const isRepeat = before !== undefined && run.round < expected && killed.has(before.pid)
    if (run.round !== expected && !isRepeat) {
      problems.push(
        `${run.key}: round ${run.round} (pid ${run.pid}, queue ${run.queueId}) where ${expected} was due ` +
          `(before: pid ${before?.pid}, queue ${before?.queueId})`,
      )
    }
    last.set(run.key, run)
  }
  return problems
}

/** How many rounds of each key were consumed. */
export function roundsByKey(runs: readonly Run[]): Map<string, number> {
  const rounds = new Map<string, number>()
  for (const { key, round } of runs) rounds.set(key, Math.max(rounds.get(key) ?? 0, round + 1))
  return rounds
}
