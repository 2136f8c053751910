import type { Delivery, DeliveryEvent } from '../model/delivery.ts'
import type { Settled } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch } from './process-queue.ts'
import type { Settlement } from './settlement.ts'

const ENDS: Readonly<Record<Settlement['kind'], DeliveryEvent>> = {
  commit: 'succeeded',
  hold: 'succeeded',
  rollback: 'failed',
  retry: 'failed',
  block: 'failed',
  drop: 'failed',
  'send-back': 'sent-back',
  'dead-letter': 'dead-lettered',
  park: 'parked',
  release: 'released',
}

/** Records that a batch is given to its handler. */
export function journalStart(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: Batch,
  attempt: number,
): void {
  record(queue, services, batch, 'started', attempt, null)
}

/** Records what became of a batch. */
export function journalEnd(
  queue: OwnedQueue,
  services: ConsumeServices,
  { batch, attempts, error }: Settled,
  { kind }: Settlement,
): void {
  record(queue, services, batch, ENDS[kind], attempts, error)
}

function record(
  queue: OwnedQueue,
  { broker, journal }: ConsumeServices,
  batch: Batch,
  event: DeliveryEvent,
  attempt: number,
  error: string | null,
): void {
  if (!journal) return
  const at = Math.floor(broker.runtime.now())
  const deliveries = batch.map(
    ({ message }): Delivery => ({
      event,
      msgId: message.msgId,
      queueOffset: message.queueOffset,
      replay: message.redelivery?.replay ?? 0,
      attempt,
      error,
      at,
    }),
  )
  journal(queue, deliveries)
}
