/** A message as a producer hands it in (RocketMQ `Message`). */
export interface Message {
  readonly topic: string
  /** Bytes; a string is its UTF-8. May be empty on a file; a cluster refuses that. */
  readonly body: Uint8Array | string
  /** The ordering key (`__SHARDINGKEY`): all messages of a key go to one queue. */
  readonly key?: string
  /** Lookup keys (`KEYS`). When absent, the ordering key serves. */
  readonly keys?: readonly string[]
  /** The one tag that filters look at (`TAGS`). */
  readonly tags?: string
  /** User properties; reserved names are refused. */
  readonly properties?: Readonly<Record<string, string>>
  /** Comes later: RocketMQ's delay level, 1 to 18. At most one of the three. */
  readonly delayLevel?: number
  /** Comes this many milliseconds after it was stored. */
  readonly delayMs?: number
  /** Comes at this time, milliseconds since the epoch; a past time is now, as if nothing was said. */
  readonly deliverAt?: number
}

/** A stored message (RocketMQ `MessageExt`). */
export interface MessageExt {
  /** 32 upper-case hex digits; survives retries, dead-lettering and replay. */
  readonly msgId: string
  readonly topic: string
  readonly brokerName: string
  readonly queueId: number
  readonly queueOffset: number
  readonly key: string | null
  readonly keys: readonly string[]
  readonly tags: string | null
  /** User properties only; system properties have fields of their own. */
  readonly properties: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Milliseconds since the epoch, by the producer's clock. */
  readonly bornTimestamp: number
  /** Milliseconds since the epoch, by the broker's clock. */
  readonly storeTimestamp: number
  /** How often it was tried before this delivery. */
  readonly reconsumeTimes: number
  /** Present when the message comes back from the dead letters. */
  readonly redelivery?: Redelivery
  /** Present in a retry topic: where the message was sent to. */
  readonly origin?: MessageOrigin
}

/** The place of a message before it was sent back. */
export interface MessageOrigin {
  readonly topic: string
  readonly queueId: number
  readonly queueOffset: number
}

/** Where a replayed message comes from. */
export interface Redelivery {
  /** Identity of its dead letter within the broker. */
  readonly deadLetterId: number
  /** 1 for the first replay of this dead letter. */
  readonly replay: number
}

/** What a send gives back for messages that went to one queue together: their offsets are contiguous. */
export interface SendReceipt {
  readonly topic: string
  readonly brokerName: string
  readonly queueId: number
  /** Offset of the first message; `null` for delayed ones, which get theirs when they are due. */
  readonly queueOffset: number | null
  readonly count: number
  /** When the i-th message is due, 0-based, in milliseconds since the epoch. Of delayed ones only. */
  deliverAt?(i: number): number
  /** Id of the i-th message, 0-based. Computed when asked for: a bulk send needs none. */
  msgId(i: number): string
}
