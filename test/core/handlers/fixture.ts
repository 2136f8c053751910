import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConsumeContext, ConsumeResult, Handler } from '../../../src/core/client/listener.ts'
import type { HandlerProcess } from '../../../src/core/model/lock.ts'
import type { MessageExt } from '../../../src/core/model/message.ts'
import { EMBEDDED_BROKER_NAME } from '../../../src/core/model/message-queue.ts'

export function messageOf(fields: Partial<MessageExt> & { text?: string } = {}): MessageExt {
  const { text = 'hello', ...rest } = fields
  const queueOffset = rest.queueOffset ?? 7
  return {
    msgId: queueOffset.toString(16).toUpperCase().padStart(32, '0'),
    topic: 'orders',
    brokerName: EMBEDDED_BROKER_NAME,
    queueId: 3,
    queueOffset,
    key: 'order-17',
    keys: ['order-17', 'customer-4'],
    tags: 'paid',
    properties: { region: 'eu' },
    body: Buffer.from(text),
    bornTimestamp: Date.UTC(2026, 7, 1, 12, 30, 15, 250),
    storeTimestamp: Date.UTC(2026, 7, 1, 12, 30, 15, 251),
    reconsumeTimes: 0,
    ...rest,
  }
}

export interface TestContext extends ConsumeContext {
  readonly recorded: HandlerProcess[]
  readonly stop: AbortController
}

export function contextOf(runsIn: (process: HandlerProcess) => boolean | Promise<boolean> = () => true) {
  const stop = new AbortController()
  const recorded: HandlerProcess[] = []
  const context: TestContext = {
    group: 'mailer',
    mq: { topic: 'orders', brokerName: EMBEDDED_BROKER_NAME, queueId: 3 },
    attempt: 1,
    signal: stop.signal,
    recorded,
    stop,
    runsIn: async (process) => {
      recorded.push(process)
      return await runsIn(process)
    },
  }
  return context
}

export async function consume(
  handler: Handler,
  messages: readonly MessageExt[] = [messageOf()],
  context: ConsumeContext = contextOf(),
): Promise<ConsumeResult> {
  const result = await handler.consume(messages, context)
  if (typeof result !== 'object') throw new Error('the handler gave no result')
  return result
}

export interface Collected {
  readonly push: (chunk: Buffer) => void
  readonly bytes: () => Buffer
  readonly text: () => string
}

export function collect(): Collected {
  const chunks: Buffer[] = []
  const bytes = () => Buffer.concat(chunks)
  return { push: (chunk) => chunks.push(chunk), bytes, text: () => bytes().toString('utf8') }
}

export function makeFolder(): { path: string; file: (name: string) => string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'rmq-handlers-'))
  return {
    path,
    file: (name) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** The file's text, empty while there is none. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`never happened: ${what}`)
}
