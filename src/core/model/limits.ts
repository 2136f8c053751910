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

/** Further tries of a message that is consumed concurrently (`maxReconsumeTimes` -1 there). */
export const CONCURRENT_RECONSUME_TIMES_MAX = 16
/** A run of the concurrent service that takes longer is sent back (`consumeTimeout`, 15 minutes). */
export const CONSUME_TIMEOUT_MS = 15 * 60_000
/** A message that could not be sent back is tried again here after this time. */
export const SEND_BACK_RETRY_MS = 5_000
/** Threads of the concurrent service (`consumeThreadMin`, `consumeThreadMax`). */
export const CONSUME_THREADS_DEFAULT = 20
/** Offsets between the first unfinished and the last cached message, concurrent only (`consumeConcurrentlyMaxSpan`). */
export const CONCURRENT_SPAN_MAX = 2000

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

/** A producer asks for the route of a topic again after this time (`pollNameServerInterval`). */
export const ROUTE_POLL_MS = 30_000
/** Further tries of a failed send that no key binds to its queue (`retryTimesWhenSendFailed`). */
export const SEND_RETRIES_DEFAULT = 2
/** After this time a failed send is not tried again (`sendMsgTimeout`, which is for all tries together). */
export const SEND_RETRY_MS = 3_000
/** A send whose route changed under it selects its queue again so often. */
export const ROUTE_RETRIES_MAX = 3
/** One-way sends on their way at a time; beyond it they are dropped (`permitsOneway`). */
export const ONEWAY_PENDING_MAX = 65_535
/** Messages that one pull asks for when nothing is said (`pullBatchSize`). */
export const PULL_MESSAGES_DEFAULT = 32
/** How long a poll waits for messages (`DefaultLitePullConsumer.pollTimeoutMillis`). */
export const POLL_TIMEOUT_MS = 5_000
/** Messages that have outlived their topic's retention time are looked for this often. */
export const RETENTION_INTERVAL_MS = 5_000
/** Most messages of a queue that go in one transaction. */
export const RETENTION_STEP_MESSAGES = 500

/** Characters of an SQL92 filter. */
export const SQL92_LENGTH_MAX = 65_536
/** Levels of parentheses and operators of an SQL92 filter; one AND or OR of many operands is one level. */
export const SQL92_DEPTH_MAX = 250

/** Newest deliveries that the journal keeps, all groups together: about 200 bytes each. */
export const JOURNAL_DELIVERIES_MAX = 1_000_000
/** Oldest deliveries that one record removes at most, once the journal is full. */
export const JOURNAL_PRUNE_STEP = 1000
/** Delayed messages that are moved in one write. */
export const DELAYED_BATCH_MAX = 500
/** A write of them ends with the message that brings their bodies to so many bytes: it holds up all others. */
export const DELAYED_BATCH_BYTES_MAX = 8 * 1024 * 1024
/** Who waits for a delayed message looks again after this time, since the wall clock may have been set. */
export const DELAYED_LOOK_MS = 1_000
