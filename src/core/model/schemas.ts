import { z } from 'zod'
import { DELAY_MS_MAX, DELIVER_AT_MAX, delaysSaid } from './delay.ts'
import { RmqError } from './errors.ts'
import {
  BODY_BYTES_MAX,
  CONSUME_BATCH_MAX,
  QUEUES_PER_TOPIC_DEFAULT,
  QUEUES_PER_TOPIC_MAX,
} from './limits.ts'
import { checkGroupName, checkTopicName } from './names.ts'
import { HASH_RULES } from './topic.ts'

/**
 * The shapes of everything that users hand in, for programs and for the commands that have the time to load zod
 * (60 ms cold). The send path checks the same rules by hand; a test holds the two against each other.
 */

const DAY_MS = 24 * 3600_000

export const topicNameSchema = named(checkTopicName)
export const groupNameSchema = named(checkGroupName)
export const queueIdSchema = z
  .int()
  .min(0)
  .max(QUEUES_PER_TOPIC_MAX - 1)
export const offsetSchema = z.int().min(0)
/** Milliseconds since the epoch. */
export const timestampSchema = z.int()
export const durationMsSchema = z.int().min(0)
export const bodySizeSchema = z.int().min(0).max(BODY_BYTES_MAX)
/** 32 upper-case hex digits; 56 where the producer's host has an IPv6 address. */
export const msgIdSchema = z.string().regex(/^[0-9A-F]{32}([0-9A-F]{24})?$/)

export const topicSpecSchema = z.strictObject({
  topic: topicNameSchema,
  queues: z.int().min(1).max(QUEUES_PER_TOPIC_MAX).default(QUEUES_PER_TOPIC_DEFAULT),
  hash: z.enum(HASH_RULES).default('java'),
  retentionMs: z.int().min(1).nullable().default(null),
  maxBody: z.int().min(1).max(BODY_BYTES_MAX).default(BODY_BYTES_MAX),
})

export const messageSchema = z
  .strictObject({
    topic: topicNameSchema,
    body: z.union([z.instanceof(Uint8Array), z.string()]),
    key: text().min(1).optional(),
    keys: z.array(text().min(1)).optional(),
    tags: text().min(1).optional(),
    properties: z.record(text().min(1), text()).optional(),
    delayLevel: z.int().min(1).optional(),
    delayMs: z.int().min(0).max(DELAY_MS_MAX).optional(),
    deliverAt: timestampSchema.max(DELIVER_AT_MAX).optional(),
  })
  .refine(
    ({ delayLevel, delayMs, deliverAt }) => delaysSaid({ delayLevel, delayMs, deliverAt }).length <= 1,
    {
      message: 'delayLevel, delayMs and deliverAt exclude each other',
    },
  )

export const messageQueueSchema = z.object({
  topic: topicNameSchema,
  brokerName: z.string(),
  queueId: queueIdSchema,
})

/** Options of a consumer, checked when it starts. */
export const consumerOptionsSchema = z.object({
  group: groupNameSchema,
  topics: z.array(topicNameSchema).min(1),
  messageModel: z.enum(['clustering', 'broadcasting']).optional(),
  lockTtlMs: z.int().min(100).max(DAY_MS).optional(),
  batch: z.int().min(1).max(CONSUME_BATCH_MAX).optional(),
  threads: z.int().min(1).max(1000).optional(),
  perKey: z.int().min(1).max(1000).optional(),
  autoCommit: z.boolean().optional(),
  maxReconsumeTimes: z
    .int()
    .min(-1)
    .max(2 ** 31 - 1)
    .optional(),
  onExhausted: z.enum(['dlq', 'block', 'park-key']).optional(),
  suspendMs: z.int().min(0).max(DAY_MS).optional(),
  suspendMaxMs: z.int().min(0).max(DAY_MS).optional(),
  consumeTimeoutMs: z.int().min(1).max(DAY_MS).optional(),
  from: z.union([z.enum(['earliest', 'latest']), z.object({ timestamp: timestampSchema })]).optional(),
  drainTimeoutMs: z.int().min(0).max(DAY_MS).optional(),
  count: z.int().min(1).optional(),
  idleTimeoutMs: z.int().min(1).max(DAY_MS).optional(),
  pullThresholdForTopic: z.int().min(1).max(6_553_500).optional(),
  pullThresholdBytesForTopic: z.int().min(1).optional(),
})

/** Checks a value; INVALID_ARGUMENT names what it is of, the path and the rule. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map(({ path, message }) => `${path.join('.') || what}: ${message}`)
  throw new RmqError('INVALID_ARGUMENT', `${what} is not valid: ${issues[0]}`, {
    why: issues.join('; '),
    details: { issues },
  })
}

function named(complaintOf: (name: string) => string | undefined) {
  return z.string().superRefine((name, context) => {
    const complaint = complaintOf(name)
    if (complaint !== undefined) context.addIssue({ code: 'custom', message: complaint })
  })
}

/** Text that survives every store and wire: well-formed, without the two separators of RocketMQ's properties. */
function text() {
  return z
    .string()
    .refine((value) => value.isWellFormed(), { message: 'it has half of a surrogate pair' })
    .refine((value) => !(value.includes('\u0001') || value.includes('\u0002')), {
      message: 'it has a character U+0001 or U+0002',
    })
}
