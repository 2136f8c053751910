import { isUtf8 } from 'node:buffer'
import type { MessageExt } from './message.ts'
import { EMBEDDED_BROKER_NAME } from './message-queue.ts'

/**
 * A stored message as rmq prints it and as a piped handler reads it, under RocketMQ's field names.
 * What is printed can be sent again without a loss, `parseRecordLine` reads it.
 */
export interface MessageRecord {
  readonly msgId: string
  readonly topic: string
  /** On a cluster only. */
  readonly brokerName?: string
  readonly queueId: number
  readonly queueOffset: number
  readonly key: string | null
  readonly keys: readonly string[]
  readonly tags: string | null
  readonly reconsumeTimes: number
  /** ISO 8601 in UTC with milliseconds, as `storeTimestamp`. */
  readonly bornTimestamp: string
  readonly storeTimestamp: string
  readonly properties: Readonly<Record<string, string>>
  /** 1 when the message comes back from the dead letters for the first time; absent when it never died. */
  readonly replay?: number
  /** The body when it is valid UTF-8, a byte order mark included; else `bodyBase64`. Exactly one of them is there. */
  readonly body?: string
  readonly bodyBase64?: string
  /** Bytes of the body. */
  readonly bodySize: number
}

/** Largest distance from the epoch that an ISO date can express (ECMA-262, time values). */
const DATE_MS_MAX = 8.64e15

export function toRecord(message: MessageExt): MessageRecord {
  const bytes = bufferOf(message.body)
  return {
    msgId: message.msgId,
    topic: message.topic,
    ...(message.brokerName === EMBEDDED_BROKER_NAME ? undefined : { brokerName: message.brokerName }),
    queueId: message.queueId,
    queueOffset: message.queueOffset,
    key: message.key,
    keys: message.keys,
    tags: message.tags,
    reconsumeTimes: message.reconsumeTimes,
    bornTimestamp: isoTimestamp(message.bornTimestamp),
    storeTimestamp: isoTimestamp(message.storeTimestamp),
    properties: message.properties,
    ...(message.redelivery === undefined ? undefined : { replay: message.redelivery.replay }),
    // Not a TextDecoder: it drops a leading byte order mark, and the printed body would be three bytes short.
    ...(isUtf8(bytes) ? { body: bytes.toString('utf8') } : { bodyBase64: bytes.toString('base64') }),
    bodySize: bytes.length,
  }
}

/**
 * The record as one line of NDJSON, without the newline: the JSON of `toRecord`, field by field. A piped handler gets
 * one for each message, and `JSON.stringify` of the object takes twice as long.
 */
export function recordLine(message: MessageExt): string {
  const { key, keys, redelivery } = message
  const bytes = bufferOf(message.body)
  const quotedKey = key === null ? 'null' : quoted(key)
  const isOnlyKey = keys.length === 1 && keys[0] === key
  return (
    `{"msgId":${quoted(message.msgId)},"topic":${quoted(message.topic)},` +
    (message.brokerName === EMBEDDED_BROKER_NAME ? '' : `"brokerName":${quoted(message.brokerName)},`) +
    `"queueId":${message.queueId},"queueOffset":${message.queueOffset},"key":${quotedKey},` +
    `"keys":${isOnlyKey ? `[${quotedKey}]` : JSON.stringify(keys)},` +
    `"tags":${message.tags === null ? 'null' : quoted(message.tags)},` +
    `"reconsumeTimes":${message.reconsumeTimes},"bornTimestamp":"${isoTimestamp(message.bornTimestamp)}",` +
    `"storeTimestamp":"${isoTimestamp(message.storeTimestamp)}",` +
    `"properties":${JSON.stringify(message.properties)},` +
    (redelivery === undefined ? '' : `"replay":${redelivery.replay},`) +
    // As in `toRecord`.
    (isUtf8(bytes)
      ? `"body":${quoted(bytes.toString('utf8'))}`
      : `"bodyBase64":"${bytes.toString('base64')}"`) +
    `,"bodySize":${bytes.length}}`
  )
}

/** All that JSON may have to write in another way: quote, backslash, control characters, surrogates. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

function quoted(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}

/** Up to the seconds, of the stamp that was written last: stamps come in runs, and a date is costly to write. */
const lastSecond = { second: Number.NaN, text: '' }

/** A stamp of another machine may be nonsense; it must not stop the message that carries it. */
function isoTimestamp(ms: number): string {
  const time = Math.min(Math.max(Math.trunc(ms) || 0, -DATE_MS_MAX), DATE_MS_MAX)
  const second = Math.floor(time / 1000)
  if (second !== lastSecond.second) {
    lastSecond.second = second
    lastSecond.text = new Date(second * 1000).toISOString().slice(0, -'000Z'.length)
  }
  return `${lastSecond.text}${String(time - second * 1000).padStart(3, '0')}Z`
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
