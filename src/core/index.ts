export type {
  Broker,
  BrokerAdmin,
  BrokerNotification,
  LockFilter,
  LockRelease,
  OffsetReset,
  PullResult,
  PullStatus,
} from './broker.ts'
export {
  ALLOCATE_STRATEGIES,
  ALLOCATE_STRATEGY_NAMES,
  type AllocateMessageQueueStrategy,
  type AllocateStrategyName,
  allocateByConfig,
} from './client/allocate.ts'
export { ConcurrentConsumer } from './client/concurrent-consumer.ts'
export type { ConsumeHook, ConsumeHookContext, ConsumeReturnType } from './client/consume-hook.ts'
export type { ConsumerEvent, ConsumerSummary } from './client/consumer-events.ts'
export type {
  ConcurrentConsumerOptions,
  ConsumerOptions,
  OrderlyConsumerOptions,
} from './client/consumer-options.ts'
export type {
  ConsumeContext,
  ConsumeResult,
  ConsumeStatus,
  Handler,
  MessageListener,
} from './client/listener.ts'
export { OrderlyConsumer } from './client/orderly-consumer.ts'
export {
  type BatchResult,
  Producer,
  type ProducerOptions,
  type SendOptions,
  type SendResult,
} from './client/producer.ts'
export { PullConsumer } from './client/pull-consumer.ts'
export type {
  AssignResult,
  HeldQueue,
  PollOptions,
  PullConsumerOptions,
  PullEvent,
  PullOptions,
} from './client/pull-options.ts'
export { type MessageQueueSelector, SELECTOR_NAMES, type SelectorName } from './client/selectors.ts'
export { ON_EXHAUSTED, type OnExhausted } from './client/settlement.ts'
export { type WaitPlace, waitForMessages } from './client/wait-for-messages.ts'
export { ExecHandler } from './handlers/exec-handler.ts'
export { ModuleHandler, type ModuleHandlerOptions } from './handlers/module-handler.ts'
export type { ModuleMessage } from './handlers/module-message.ts'
export type {
  ModuleAnswer,
  ModuleBatchListener,
  ModuleContext,
  ModuleListener,
} from './handlers/module-thread.ts'
export { PipeHandler } from './handlers/pipe-handler.ts'
export type { AuditReport, Violation } from './model/audit.ts'
export { closestName } from './model/closest-name.ts'
export type { DeadLetter, DeadLetterFilter, DeadLetterState } from './model/dead-letter.ts'
export { checkDelay } from './model/delay.ts'
export type { Delivery, DeliveryEvent, DeliveryOrdering, JournalEntry } from './model/delivery.ts'
export { formatDuration, parseDuration } from './model/duration.ts'
export { InvariantViolation, RMQ_ERROR_CODES, RmqError, type RmqErrorCode } from './model/errors.ts'
export type {
  ConsumeMode,
  ConsumerStatus,
  GroupChange,
  GroupConfig,
  GroupMember,
  GroupProgress,
  GroupSpec,
  MessageModel,
  QueueStatus,
  Subscription,
  TopicStatus,
} from './model/group.ts'
export { queueOf } from './model/hash.ts'
export {
  BODY_BYTES_MAX,
  CONCURRENT_RECONSUME_TIMES_MAX,
  PULL_BATCH_MAX,
  QUEUES_PER_TOPIC_MAX,
} from './model/limits.ts'
export type { LockHolder, QueueLock } from './model/lock.ts'
export type { Message, MessageExt } from './model/message.ts'
export { type MessageQueue, queueKey } from './model/message-queue.ts'
export { type MessageRecord, recordLine, toRecord } from './model/message-record.ts'
export { isSystemTopic, retryTopicOf } from './model/names.ts'
export {
  type OffsetRange,
  type OffsetSpec,
  parseOffsetRange,
  parseOffsetSpec,
  resolveOffset,
} from './model/offset-spec.ts'
export { type InputMessage, parseRecordLine } from './model/record-input.ts'
export { formatSize, parseSize } from './model/size.ts'
export { compileSql92, type FilterCondition, type FilterProperties } from './model/sql92/compile.ts'
export type { Expression } from './model/sql92/expression.ts'
export { parseSql92 } from './model/sql92/parse.ts'
export { printSql92 } from './model/sql92/print.ts'
export { checkSubscription } from './model/subscription.ts'
export { matchesTags, parseTagExpression } from './model/tag-expression.ts'
export { parseTime } from './model/time.ts'
export {
  type Barrier,
  HASH_RULES,
  type HashRule,
  type QueueStats,
  type TopicChange,
  type TopicConfig,
  type TopicPerm,
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
export { BACKLOG_METRIC_NAMES, benchBacklog } from './ops/bench/bench-backlog.ts'
export { benchConsume, CONSUME_METRIC_NAMES, measureHere } from './ops/bench/bench-consume.ts'
export { benchE2e, E2E_METRIC_NAMES } from './ops/bench/bench-e2e.ts'
export { benchFair } from './ops/bench/bench-fair.ts'
export { benchSend, sendMetricNames } from './ops/bench/bench-send.ts'
export { BENCH_TAG, type ConsumePlan, PLAIN_PLAN } from './ops/bench/consume-plan.ts'
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
export { assertGroupIdle } from './ops/group-idle.ts'
export { type CloneTarget, planClone, planReset, type ResetTarget } from './ops/offset-plans.ts'
export { Pace } from './ops/pace.ts'
export { type PurgeOptions, type PurgeSummary, purgeDeadLetters } from './ops/purge.ts'
export { type GroupDrain, type KeyMove, planQueues, type QueuePlan } from './ops/queue-plan.ts'
export { type ReplayOptions, replayDeadLetters } from './ops/replay.ts'
export type { ReplayResult, ReplayStatus, ReplaySummary } from './ops/replay-result.ts'
export { verify } from './ops/verify.ts'
export { systemRuntime } from './system-runtime.ts'
