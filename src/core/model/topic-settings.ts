import { RmqError } from './errors.ts'
import { BODY_BYTES_MAX, QUEUES_PER_TOPIC_MAX } from './limits.ts'
import type { TopicChange } from './topic.ts'

const PERMS: readonly number[] = [2, 4, 6]

/** Refuses settings that a topic cannot have; `command` is whose help says more. INVALID_ARGUMENT. */
export function checkTopicSettings(settings: TopicChange, command: string): void {
  const { queues, retentionMs, maxBody, perm } = settings
  const refuseOutside = (what: string, value: number | null | undefined, max: number) => {
    if (value === undefined || value === null) return
    if (Number.isSafeInteger(value) && value >= 1 && value <= max) return
    throw new RmqError('INVALID_ARGUMENT', `${what}: ${value} is not allowed`, {
      why: `it is a whole number from 1 to ${max}`,
      hint: `${command} --help`,
      details: { value, min: 1, max },
    })
  }
  refuseOutside('queues', queues, QUEUES_PER_TOPIC_MAX)
  refuseOutside('max body', maxBody, BODY_BYTES_MAX)
  refuseOutside('retention in milliseconds', retentionMs, Number.MAX_SAFE_INTEGER)
  if (perm === undefined || PERMS.includes(perm)) return
  throw new RmqError('INVALID_ARGUMENT', `perm: ${perm} is not allowed`, {
    why: 'it is 6 (read and write), 4 (read only) or 2 (write only)',
    hint: `${command} --help`,
    details: { value: perm, allowed: PERMS },
  })
}
