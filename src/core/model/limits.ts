/**
 * Every bound of rmq in one place, with its unit in the name.
 * Where a value is RocketMQ's, the comment says which setting it is.
 */

/** Topic names (`Validators.TOPIC_MAX_LENGTH`). */
export const TOPIC_NAME_LENGTH_MAX = 127
/** Group names (`Validators.CHARACTER_MAX_LENGTH` of 4.9 to 5.3). */
export const GROUP_NAME_LENGTH_MAX = 255
/** Message body, in bytes (`maxMessageSize`). */
export const BODY_BYTES_MAX = 4 * 1024 * 1024
/** All properties of a message in RocketMQ's encoding, in bytes: a signed short on the wire. */
export const PROPERTIES_BYTES_MAX = 32_767
/** Queues of one topic: embedded, each is a table (4 KiB each, measured free up to about 1,000 a file). */
export const QUEUES_PER_TOPIC_MAX = 1024
/** Queues of a topic that nobody sized (mqadmin's `updateTopic`). */
export const QUEUES_PER_TOPIC_DEFAULT = 8

/** Broker side life of a queue lock (`rocketmq.broker.rebalance.lockMaxLiveTime`). */
export const LOCK_TTL_MS = 60_000
/** A lock is renewed every third of its life (20 s of 60 s, `rocketmq.client.rebalance.lockInterval`). */
export const LOCK_RENEWALS_PER_TTL = 3
/** The client trusts a lock for half of its life after the last renewal (30 s of 60 s). */
export const LOCK_TRUST_SHARE = 0.5
/** Longest time without a rebalance (`rocketmq.client.rebalance.waitInterval`). */
export const REBALANCE_INTERVAL_MS = 20_000
/** A lock that was refused is asked for again after this time at the latest (5.x `rebalanceLater`). */
export const LOCK_RETRY_MS = 500
/** A consume loop gives its thread to other queues after this time (`rocketmq.client.maxTimeConsumeContinuously`). */
export const CONSUME_CONTINUOUSLY_MS_MAX = 60_000
/** Pause of a loop that yielded, or that got its lock back. */
export const RESUME_LATER_MS = 10
/** Pause of a loop that could not get its lock back. */
export const LOCK_AGAIN_LATER_MS = 3_000

/** Suspend time of a failed head: default and bounds (`suspendCurrentQueueTimeMillis`). */
export const SUSPEND_MS_DEFAULT = 1_000
export const SUSPEND_MS_MIN = 10
export const SUSPEND_MS_MAX = 30_000

/** Messages cached for one queue before pulling pauses (`pullThresholdForQueue`). */
export const CACHED_MESSAGES_PER_QUEUE_MAX = 1000
/** Body bytes cached for one queue before pulling pauses (`pullThresholdSizeForQueue`). */
export const CACHED_BYTES_PER_QUEUE_MAX = 100 * 1024 * 1024
/** Most messages of one pull. RocketMQ asks for 32 over a network; a local read is cheaper in larger steps. */
export const PULL_BATCH_MAX = 256
/** Most body bytes of one pull, at least one message (5.x `maxMsgBytes` is 256 KiB). */
export const PULL_BYTES_MAX = 1024 * 1024
/** How long a broker holds a pull that finds nothing (`brokerSuspendMaxTimeMillis`). */
export const LONG_POLL_MS = 15_000
/** A pull is tried again after this time when it failed (`pullTimeDelayMillsWhenException`). */
export const PULL_RETRY_MS = 1_000
/** A pull waits this long while the cache is full. */
export const PULL_FLOW_CONTROL_MS = 50
/** Batch of one listener call: default and most (`consumeMessageBatchMaxSize`). */
export const CONSUME_BATCH_DEFAULT = 1
export const CONSUME_BATCH_MAX = 1024

/**
 * Offset commits wait at most this long to share one transaction. RocketMQ stores them every 5 s;
 * what is not stored at a crash is delivered again, so shorter is kinder and, shared, nearly free.
 */
export const COMMIT_FLUSH_MS = 10
/**
 * An owner never starts a message this far beyond its stored committed offset; hence after a crash
 * every message that may have been started lies within this span, and the next owner goes through it
 * carefully, storing each start and each commit on its own.
 */
export const CAREFUL_SPAN_MESSAGES = 1000

/** How long a stop waits for running handlers. */
export const DRAIN_TIMEOUT_MS = 10_000
/** What is kept of a handler's complaint, in bytes. */
export const LAST_ERROR_BYTES_MAX = 2048

/** A write waits this long for other processes before it gives up with STORE_BUSY. */
export const STORE_BUSY_TIMEOUT_MS = 10_000
/** Members look for messages, changes and dead neighbours at least this often when no wake-up comes. */
export const STORE_POLL_MS = 50
