export type {
  AuditReport,
  Broker,
  BrokerNotification,
  LockFilter,
  LockRelease,
  Violation,
} from './broker.ts'
export type { ConsumerEvent, ConsumerSummary } from './client/consumer-events.ts'
export type { OrderlyConsumerOptions } from './client/consumer-options.ts'
export type {
  ConsumeContext,
  ConsumeResult,
  ConsumeStatus,
  Handler,
  MessageListener,
} from './client/listener.ts'
export { OrderlyConsumer } from './client/orderly-consumer.ts'
export { type BatchResult, Producer, type SendOptions, type SendResult } from './client/producer.ts'
export { type MessageQueueSelector, SELECTOR_NAMES, type SelectorName } from './client/selectors.ts'
export { ExecHandler } from './handlers/exec-handler.ts'
export { PipeHandler } from './handlers/pipe-handler.ts'
export { closestName } from './model/closest-name.ts'
export type { DeadLetter, DeadLetterFilter, DeadLetterState } from './model/dead-letter.ts'
export { formatDuration, parseDuration } from './model/duration.ts'
export { InvariantViolation, RMQ_ERROR_CODES, RmqError, type RmqErrorCode } from './model/errors.ts'
export type { GroupConfig, GroupMember, GroupProgress, Subscription } from './model/group.ts'
export { queueOf } from './model/hash.ts'
export { BODY_BYTES_MAX, PULL_BATCH_MAX, QUEUES_PER_TOPIC_MAX } from './model/limits.ts'
export type { LockHolder, QueueLock } from './model/lock.ts'
export type { Message, MessageExt } from './model/message.ts'
export type { MessageQueue } from './model/message-queue.ts'
export { type MessageRecord, recordLine, toRecord } from './model/message-record.ts'
export {
  type OffsetRange,
  type OffsetSpec,
  parseOffsetRange,
  parseOffsetSpec,
  resolveOffset,
} from './model/offset-spec.ts'
export { type InputMessage, parseRecordLine } from './model/record-input.ts'
export { formatSize, parseSize } from './model/size.ts'
export { matchesTags, parseTagExpression } from './model/tag-expression.ts'
export { parseTime } from './model/time.ts'
export {
  HASH_RULES,
  type HashRule,
  type QueueStats,
  type TopicConfig,
  type TopicSpec,
} from './model/topic.ts'
export { openBaseline } from './open-baseline.ts'
export { type OpenBrokerOptions, openBroker } from './open-broker.ts'
export {
  type Assertion,
  type CheckedAssertion,
  checkAssertion,
  parseAssertion,
} from './ops/bench/assertion.ts'
export { benchConsume, CONSUME_METRIC_NAMES, measureHere } from './ops/bench/bench-consume.ts'
export { benchE2e, E2E_METRIC_NAMES } from './ops/bench/bench-e2e.ts'
export { benchFair } from './ops/bench/bench-fair.ts'
export { benchSend, sendMetricNames } from './ops/bench/bench-send.ts'
export { ConsumerRole, type Join } from './ops/bench/consumer-role.ts'
export { measureTeam } from './ops/bench/consumer-team.ts'
export type {
  BenchWorker,
  StartWorker,
  WorkerOrder,
  WorkerSpec,
} from './ops/bench/orders.ts'
export { seededRuntime } from './ops/bench/prng.ts'
export { ProducerRole } from './ops/bench/producer-role.ts'
export type { BenchReport, BenchRow } from './ops/bench/report.ts'
export type { BenchProducer } from './ops/bench/send-workload.ts'
export type { BenchSettings } from './ops/bench/settings.ts'
export { Pace } from './ops/pace.ts'
export { type ReplayOptions, replayDeadLetters } from './ops/replay.ts'
export type { ReplayResult, ReplayStatus, ReplaySummary } from './ops/replay-result.ts'
export { verify } from './ops/verify.ts'
export { systemRuntime } from './system-runtime.ts'
