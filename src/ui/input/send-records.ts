import type { Readable } from 'node:stream'
import type { BatchResult, Message, Pace, SendOptions } from '../../core/index.ts'
import { type BatchProducer, BatchSender, type OnSent } from './batch-sender.ts'
import { CHUNK_BYTES, chunksOf } from './input-source.ts'
import type { RecordReader } from './record-reader.ts'
import { type Delimiter, RecordSplitter } from './record-splitter.ts'

export interface SendRun {
  readonly producer: BatchProducer
  readonly send: SendOptions
  /** Absent: as fast as it goes. */
  readonly pace: Pace | undefined
  /** A person or a supervisor asked for the end: what was read whole is still sent. */
  readonly signal: AbortSignal
  readonly onSent: OnSent
}

export interface RecordInput {
  readonly input: Readable
  readonly delimiter: Delimiter
  readonly read: RecordReader
}

/**
 * Sends each record of an input as it arrives. Memory holds two batches, whatever the length of the input.
 * Rejects with the first thing that went wrong, when everything before it is stored.
 */
export async function sendRecords(records: RecordInput, run: SendRun): Promise<void> {
  const stop = new AbortController()
  const signal = AbortSignal.any([run.signal, stop.signal])
  const sender = new BatchSender({ ...run, onFailed: () => stop.abort() })
  let error: unknown
  try {
    await fill(sender, records, run, signal)
  } catch (thrown) {
    error = thrown
  }
  // What the sender failed at came before what could not be read.
  await sender.finish()
  if (error !== undefined) throw error
}

async function fill(
  sender: BatchSender,
  { input, delimiter, read }: RecordInput,
  run: SendRun,
  signal: AbortSignal,
): Promise<void> {
  const splitter = new RecordSplitter(delimiter)
  let line = 0
  for await (const chunk of chunksOf(input, signal)) {
    for (const record of splitter.push(chunk)) {
      line++
      const message = read(record, line)
      // Awaited only where there is something to wait for: a turn for each message costs a third of the rate.
      const wait = message && give(sender, message, line, run.pace, signal)
      if (wait) await wait
      if (signal.aborted) return
    }
    if (chunk.length < CHUNK_BYTES) sender.flush()
    else sender.flushSoon()
  }
  const last = signal.aborted ? undefined : splitter.end()
  const message = last && read(last, line + 1)
  if (message) await give(sender, message, line + 1, run.pace, signal)
}

/** Hands over one message at its time. Answers a promise only where there is something to wait for. */
function give(
  sender: BatchSender,
  message: Message,
  line: number,
  pace: Pace | undefined,
  signal: AbortSignal,
): Promise<void> | undefined {
  if (pace === undefined) return sender.add(message, line)
  return (async () => {
    await pace.turn(signal)
    if (signal.aborted) return
    await sender.add(message, line)
    sender.flush()
  })()
}

/** Sends the same message `count` times, one after the other, or in one send with `atomic`. */
export async function sendRepeatedly(
  message: Message,
  count: number,
  run: SendRun,
  { atomic }: { readonly atomic: boolean },
): Promise<void> {
  if (atomic) return await sendTogether(Array<Message>(count).fill(message), run)
  const stop = new AbortController()
  const signal = AbortSignal.any([run.signal, stop.signal])
  const sender = new BatchSender({ ...run, onFailed: () => stop.abort() })
  for (let i = 0; i < count && !signal.aborted; i++) {
    const wait = give(sender, message, 0, run.pace, signal)
    if (wait) await wait
  }
  await sender.finish()
}

/** All records of an input in one send, all or none. Memory holds all of them. Stopped before the end: none. */
export async function sendAtomically(records: RecordInput, run: SendRun): Promise<void> {
  const messages: Message[] = []
  const splitter = new RecordSplitter(records.delimiter)
  let line = 0
  const take = (record: Buffer) => {
    line++
    const message = records.read(record, line)
    if (message) messages.push(message)
  }
  for await (const chunk of chunksOf(records.input, run.signal)) {
    for (const record of splitter.push(chunk)) take(record)
  }
  if (run.signal.aborted) return
  const last = splitter.end()
  if (last !== undefined) take(last)
  await sendTogether(messages, run)
}

async function sendTogether(messages: readonly Message[], run: SendRun): Promise<void> {
  if (messages.length === 0) return
  const result: BatchResult = await run.producer.sendBatch(messages, run.send)
  await run.onSent(messages, result)
}
