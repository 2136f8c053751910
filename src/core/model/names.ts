import { RmqError } from './errors.ts'
import { GROUP_NAME_LENGTH_MAX, TOPIC_NAME_LENGTH_MAX } from './limits.ts'

export { isReservedPropertyName } from './properties.ts'

/** RocketMQ's `TopicValidator` and `Validators`, for topics and groups alike. */
const NAME = /^[%|a-zA-Z0-9_-]+$/
const ALLOWED = 'letters, digits, _ - % |'

/** RocketMQ's topics of its own (`TopicValidator.SYSTEM_TOPIC_SET`). */
const SYSTEM_TOPICS = new Set([
  'TBW102',
  'SCHEDULE_TOPIC_XXXX',
  'BenchmarkTest',
  'RMQ_SYS_TRANS_HALF_TOPIC',
  'RMQ_SYS_TRACE_TOPIC',
  'RMQ_SYS_TRANS_OP_HALF_TOPIC',
  'TRANS_CHECK_MAX_TIME_TOPIC',
  'SELF_TEST_TOPIC',
  'OFFSET_MOVED_EVENT',
  'CHECKPOINT_TOPIC',
])
const SYSTEM_TOPIC_PREFIXES = ['rmq_sys_', '%RETRY%', '%DLQ%', '%LMQ%']

/** RocketMQ's groups of its own (`MixAll`). */
const SYSTEM_GROUPS = new Set([
  'DEFAULT_CONSUMER',
  'DEFAULT_PRODUCER',
  'TOOLS_CONSUMER',
  'SCHEDULE_CONSUMER',
  'FILTERSRV_CONSUMER',
  '__MONITOR_CONSUMER',
  'CLIENT_INNER_PRODUCER',
  'SELF_TEST_P_GROUP',
  'SELF_TEST_C_GROUP',
  'CID_ONS-HTTP-PROXY',
  'CID_ONSAPI_PERMISSION',
  'CID_ONSAPI_OWNER',
  'CID_ONSAPI_PULL',
  'CID_RMQ_SYS_TRANS',
])
/** Beside RocketMQ's own prefix those of the topics that belong to a group. */
const SYSTEM_GROUP_PREFIXES = ['CID_RMQ_SYS_', '%RETRY%', '%DLQ%']

/** The topic through which a group's failed messages come again. */
export function retryTopicOf(group: string): string {
  return `%RETRY%${group}`
}

/** What is wrong with a topic name, `undefined` when it is fine. */
export function checkTopicName(name: string): string | undefined {
  return checkName(name, TOPIC_NAME_LENGTH_MAX)
}

/** What is wrong with a group name, `undefined` when it is fine. */
export function checkGroupName(name: string): string | undefined {
  return checkName(name, GROUP_NAME_LENGTH_MAX)
}

/** Topics that belong to the broker: not created or deleted by people, shown only when asked for. */
export function isSystemTopic(name: string): boolean {
  return SYSTEM_TOPICS.has(name) || SYSTEM_TOPIC_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/** Groups that RocketMQ predefines. */
export function isSystemGroup(name: string): boolean {
  return SYSTEM_GROUPS.has(name) || SYSTEM_GROUP_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/** Throws INVALID_NAME unless `name` may be a topic's. */
export function assertTopicName(name: string): void {
  refuse('topic', name, checkTopicName(name), TOPIC_NAME_LENGTH_MAX)
}

/** Throws INVALID_NAME unless people may create a topic of this name. */
export function assertTopicCanBeCreated(name: string): void {
  assertTopicName(name)
  if (isSystemTopic(name)) throw reserved('topic', name)
}

/** Throws INVALID_NAME unless people may consume as a group of this name. */
export function assertGroupName(name: string): void {
  refuse('group', name, checkGroupName(name), GROUP_NAME_LENGTH_MAX)
  if (isSystemGroup(name)) throw reserved('group', name)
}

function checkName(name: string, lengthMax: number): string | undefined {
  if (name.length === 0) return 'it is empty'
  if (name.length > lengthMax) return `it has ${name.length} characters, ${lengthMax} are allowed`
  if (NAME.test(name)) return undefined
  const offender = [...name].find((character) => !NAME.test(character)) ?? ''
  return `it contains ${JSON.stringify(offender)}`
}

function refuse(kind: string, name: string, complaint: string | undefined, lengthMax: number): void {
  if (complaint === undefined) return
  throw new RmqError(
    'INVALID_NAME',
    `${kind} name ${JSON.stringify(shorten(name))} is not allowed: ${complaint}`,
    {
      why: `a ${kind} name is 1 to ${lengthMax} of: ${ALLOWED}`,
      hint: `choose a ${kind} name of these characters`,
      details: { [kind]: name },
    },
  )
}

function reserved(kind: string, name: string): RmqError {
  return new RmqError('INVALID_NAME', `${kind} name ${name} is reserved`, {
    why: `RocketMQ keeps this ${kind} name for itself`,
    hint: `choose another ${kind} name`,
    details: { [kind]: name },
  })
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`
}
