import type { ConsumeContext } from '../client/listener.ts'
import type { MessageExt } from '../model/message.ts'
import { toRecord } from '../model/message-record.ts'

/** The kernel's bound of one `NAME=value` with its final NUL (MAX_ARG_STRLEN of Linux). */
const VARIABLE_BYTES_MAX = 131_072

const NAMES = [
  'RMQ_MSG_ID',
  'RMQ_TOPIC',
  'RMQ_QUEUE_ID',
  'RMQ_QUEUE_OFFSET',
  'RMQ_KEY',
  'RMQ_KEYS',
  'RMQ_TAGS',
  'RMQ_RECONSUME_TIMES',
  'RMQ_GROUP',
  'RMQ_BORN_TIMESTAMP',
  'RMQ_PROPERTIES',
  'RMQ_BODY_SIZE',
  'RMQ_BATCH_SIZE',
] as const
type Variables = Partial<Record<(typeof NAMES)[number], string>>

/**
 * The environment of an exec handler: the inherited one and what it should know of its message.
 * `RMQ_KEYS` is joined by spaces as RocketMQ stores it, `RMQ_PROPERTIES` is JSON, times are ISO 8601, and
 * `RMQ_BODY_SIZE` is the length of stdin in bytes.
 *
 * For a batch, `RMQ_QUEUE_OFFSET` is that of its first message; the rest of each message is in its record on stdin.
 *
 * A variable is left out, never cut, when its message has no such value, when the value holds a NUL (an environment
 * cannot), or when it is too long for the system. All of it is in the records that a batch or a piped handler gets.
 * A variable of these names that was inherited belongs to somebody else's message and is taken away.
 */
export function execEnvironment(
  inherited: NodeJS.ProcessEnv,
  messages: readonly MessageExt[],
  context: ConsumeContext,
  stdin: { readonly bytes: number; readonly isBatch: boolean },
): NodeJS.ProcessEnv {
  const env = { ...inherited }
  for (const name of NAMES) delete env[name]
  const [first] = messages
  if (first === undefined) return env
  const own = stdin.isBatch ? { RMQ_BATCH_SIZE: String(messages.length) } : messageVariables(first)
  const variables: Variables = {
    ...own,
    RMQ_GROUP: context.group,
    RMQ_TOPIC: first.topic,
    RMQ_QUEUE_ID: String(first.queueId),
    RMQ_QUEUE_OFFSET: String(first.queueOffset),
    RMQ_BODY_SIZE: String(stdin.bytes),
  }
  for (const [name, value] of Object.entries(variables)) if (isPossible(name, value)) env[name] = value
  return env
}

function messageVariables(message: MessageExt): Variables {
  return {
    RMQ_MSG_ID: message.msgId,
    ...(message.key === null ? undefined : { RMQ_KEY: message.key }),
    ...(message.keys.length === 0 ? undefined : { RMQ_KEYS: message.keys.join(' ') }),
    ...(message.tags === null ? undefined : { RMQ_TAGS: message.tags }),
    RMQ_RECONSUME_TIMES: String(message.reconsumeTimes),
    RMQ_BORN_TIMESTAMP: toRecord(message).bornTimestamp,
    RMQ_PROPERTIES: JSON.stringify(message.properties),
  }
}

function isPossible(name: string, value: string): boolean {
  return !value.includes('\0') && name.length + 1 + Buffer.byteLength(value) < VARIABLE_BYTES_MAX
}
