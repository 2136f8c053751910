/** The system properties that rmq itself reads (RocketMQ `MessageConst`). */
export const UNIQ_KEY = 'UNIQ_KEY'
export const RECONSUME_TIME = 'RECONSUME_TIME'
export const RETRY_TOPIC = 'RETRY_TOPIC'
export const ORIGIN_MESSAGE_ID = 'ORIGIN_MESSAGE_ID'
/** Not RocketMQ's: the queue and offset of the first incarnation, which RocketMQ's retries forget. */
export const ORIGIN_PLACE = 'RMQ_ORIGIN_PLACE'

/** What a message has only while it is in a retry topic. */
export const RETRY_PROPERTIES: ReadonlySet<string> = new Set([
  RECONSUME_TIME,
  RETRY_TOPIC,
  ORIGIN_MESSAGE_ID,
  ORIGIN_PLACE,
])

/** Names that RocketMQ keeps for itself (`MessageConst.STRING_HASH_SET` and what brokers write). */
const RESERVED = new Set([
  'KEYS',
  'TAGS',
  'WAIT',
  'DELAY',
  RETRY_TOPIC,
  'REAL_TOPIC',
  'REAL_QID',
  'TRAN_MSG',
  'PGROUP',
  'MIN_OFFSET',
  'MAX_OFFSET',
  'BUYER_ID',
  ORIGIN_MESSAGE_ID,
  'TRANSFER_FLAG',
  'CORRECTION_FLAG',
  'MQ2_FLAG',
  RECONSUME_TIME,
  'MAX_RECONSUME_TIMES',
  'MSG_REGION',
  'TRACE_ON',
  UNIQ_KEY,
  'EXTEND_UNIQ_INFO',
  'CONSUME_START_TIME',
  'INNER_NUM',
  'INNER_BASE',
  'DUP_INFO',
  'CHECK_IMMUNITY_TIME_IN_SECONDS',
  'TRAN_PREPARED_QUEUE_OFFSET',
  '__transactionId__',
  'TRANSACTION_CHECK_TIMES',
  'INSTANCE_ID',
  'CORRELATION_ID',
  'REPLY_TO_CLIENT',
  'TTL',
  'ARRIVE_TIME',
  'PUSH_REPLY_TIME',
  'CLUSTER',
  'MSG_TYPE',
  'POP_CK',
  'POP_CK_OFFSET',
  '1ST_POP_TIME',
  '__SHARDINGKEY',
  'PROPERTY_FORWARD_QUEUE_ID',
  'REDIRECT',
  'TRACE_CONTEXT',
  'INNER_MULTI_DISPATCH',
  'INNER_MULTI_QUEUE_OFFSET',
  'TIMER_DELAY_SEC',
  'TIMER_DELAY_MS',
  'TIMER_DELIVER_MS',
  'TIMER_OUT_MS',
  'TIMER_ENQUEUE_MS',
  'TIMER_DEQUEUE_MS',
  'TIMER_ROLL_TIMES',
  'TIMER_DEL_UNIQKEY',
  'TIMER_DELAY_LEVEL',
  '__BORNHOST',
  'BORN_TIMESTAMP',
  'DLQ_ORIGIN_TOPIC',
  'DLQ_ORIGIN_MESSAGE_ID',
  '__CRC32#',
  ORIGIN_PLACE,
])
const TRANSIENT_PREFIX = '__RMQ.TRANSIENT.'

/** Whether a user may not name a property so. */
export function isReservedPropertyName(name: string): boolean {
  return RESERVED.has(name) || name.startsWith(TRANSIENT_PREFIX)
}

/** What of a message's properties is its user's. */
export function userProperties(all: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isReservedPropertyName(name)))
}
