import type { Broker } from '../broker.ts'
import type { DeadLetter } from '../model/dead-letter.ts'
import { type ReplayResult, unmoved } from './replay-result.ts'

/** Ids looked up at a time; a dead letter's body comes with it. */
const LOOKUP_SIZE = 50

/** Why ids that were asked for were not among the selected dead letters: one result each, in the order given. */
export async function missingResults(
  broker: Broker,
  group: string,
  msgIds: readonly string[],
): Promise<readonly ReplayResult[]> {
  const results: ReplayResult[] = []
  for (let from = 0; from < msgIds.length; from += LOOKUP_SIZE) {
    const wanted = msgIds.slice(from, from + LOOKUP_SIZE)
    const { deadLetters } = await broker.deadLetters.list(
      group,
      { msgIds: wanted, states: ['dead', 'parked', 'replayed'] },
      { limit: LOOKUP_SIZE },
    )
    const found = new Map(deadLetters.map((letter) => [letter.message.msgId, letter]))
    for (const msgId of wanted) {
      const letter = found.get(msgId)
      results.push(letter === undefined ? notFound(msgId) : passedOver(letter))
    }
  }
  return results
}

function notFound(msgId: string): ReplayResult {
  return { msgId, status: 'failed', reason: 'not found', topic: null, queueId: null, queueOffset: null }
}

function passedOver(letter: DeadLetter): ReplayResult {
  if (letter.state !== 'replayed') return unmoved(letter, 'skipped', 'does not match the other filters')
  const where = letter.settledAt === null ? 'already replayed, waits for its turn' : 'already replayed'
  return unmoved(letter, 'skipped', where)
}
