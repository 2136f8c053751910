import type { MessageExt } from '../model/message.ts'
import { type MessageRecord, toRecord } from '../model/message-record.ts'

/** What the record says beside the body. */
export type MessageFields = Omit<MessageRecord, 'body' | 'bodyBase64'>

class Body {
  declare readonly body: Uint8Array

  /** The body as UTF-8; bytes that are none become U+FFFD. */
  text(): string {
    const { buffer, byteOffset, byteLength } = this.body
    // Not a TextDecoder: it drops a leading byte order mark.
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
  }

  /** The body as JSON. Throws a SyntaxError when it is none. */
  json(): unknown {
    return JSON.parse(this.text())
  }
}

/** A message as a handler module gets it: the record that rmq prints, with the body as bytes. */
export type ModuleMessage = Readonly<MessageFields> & Body

const NO_BODY = new Uint8Array(0)

/** The messages of one run as they travel: all bodies in one buffer that is handed over, not copied once more. */
export interface PackedMessages {
  readonly fields: readonly MessageFields[]
  readonly bodies: ArrayBuffer
}

export function packMessages(messages: readonly MessageExt[]): PackedMessages {
  const bodies = new Uint8Array(messages.reduce((size, { body }) => size + body.length, 0))
  let at = 0
  const fields = messages.map((message) => {
    bodies.set(message.body, at)
    at += message.body.length
    const { body: _, ...rest } = toRecord({ ...message, body: NO_BODY })
    return { ...rest, bodySize: message.body.length }
  })
  return { fields, bodies: bodies.buffer }
}

export function unpackMessages({ fields, bodies }: PackedMessages): readonly ModuleMessage[] {
  let at = 0
  return fields.map((each) => {
    const body = new Uint8Array(bodies, at, each.bodySize)
    at += each.bodySize
    return Object.assign(new Body(), each, { body })
  })
}
