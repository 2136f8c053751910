import { checkDelay, type Message, RmqError } from '../../core/index.ts'
import { assertKey, refuseDamaged } from '../argument-text.ts'

/** What the command line says of every message that it sends. */
export interface MessageTemplate {
  readonly topic: string
  readonly key?: string
  readonly keys?: readonly string[]
  readonly tags?: string
  readonly properties?: Readonly<Record<string, string>>
  readonly delayMs?: number
  readonly delayLevel?: number
  readonly deliverAt?: number
}

export interface TemplateFlags {
  readonly key?: string | undefined
  readonly keys?: string | undefined
  readonly tag?: string | undefined
  readonly property?: readonly string[] | undefined
  /** Milliseconds. */
  readonly delay?: number | undefined
  readonly 'delay-level'?: number | undefined
  /** Milliseconds since the epoch. */
  readonly 'deliver-at'?: number | undefined
}

/** Reads the flags that describe messages. INVALID_ARGUMENT. */
export function messageTemplate(topic: string, flags: TemplateFlags): MessageTemplate {
  const { key, keys, tag, property, delay, 'delay-level': delayLevel, 'deliver-at': deliverAt } = flags
  if (key !== undefined) assertKey(key, '--key')
  if (tag !== undefined) refuseDamaged(tag, '--tag')
  checkDelay({ delayMs: delay, delayLevel, deliverAt })
  return {
    topic,
    ...(key === undefined ? undefined : { key }),
    ...(keys === undefined ? undefined : { keys: readKeys(keys) }),
    ...(tag === undefined ? undefined : { tags: tag }),
    ...(property === undefined || property.length === 0
      ? undefined
      : { properties: readProperties(property) }),
    ...(delay === undefined ? undefined : { delayMs: delay }),
    ...(delayLevel === undefined ? undefined : { delayLevel }),
    ...(deliverAt === undefined ? undefined : { deliverAt }),
  }
}

/** A message of the template: what the command line says beats what the input says. */
export function withTemplate(template: MessageTemplate, input: Omit<Message, 'topic'>): Message {
  if (template.key === undefined && isBare(template) && isBare(input)) {
    const { topic } = template
    const { key, body } = input
    // The common case, written out: spreading costs as much as parsing the line.
    return key === undefined ? { topic, body } : { topic, key, body }
  }
  // A time of the command line beats one of the input, whichever way each is said.
  const message = { ...(isDelayed(template) ? withoutDelay(input) : input), ...template }
  if (input.properties === undefined || template.properties === undefined) return message
  return { ...message, properties: { ...input.properties, ...template.properties } }
}

function withoutDelay(input: Omit<Message, 'topic'>): Omit<Message, 'topic'> {
  const { delayMs, delayLevel, deliverAt, ...rest } = input
  return rest
}

function isDelayed({ delayMs, delayLevel, deliverAt }: Omit<Partial<Message>, 'body'>): boolean {
  return delayMs !== undefined || delayLevel !== undefined || deliverAt !== undefined
}

/** Nothing but a topic and, in the input, a key and a body. */
function isBare(one: Omit<Partial<Message>, 'body'>): boolean {
  return one.keys === undefined && one.tags === undefined && one.properties === undefined && !isDelayed(one)
}

function readKeys(text: string): readonly string[] {
  const keys = text.split(',')
  for (const key of keys) assertKey(key, '--keys')
  return keys
}

function readProperties(pairs: readonly string[]): Readonly<Record<string, string>> {
  const properties = new Map<string, string>()
  for (const pair of pairs) {
    refuseDamaged(pair, '--property')
    const at = pair.indexOf('=')
    const name = pair.slice(0, Math.max(at, 0))
    if (name === '') {
      throw new RmqError('INVALID_ARGUMENT', `--property ${JSON.stringify(pair)} is not NAME=VALUE`, {
        hint: 'for example --property traceId=4711; the value is all behind the first =',
      })
    }
    if (properties.has(name)) {
      throw new RmqError('INVALID_ARGUMENT', `--property ${name} is given twice`, {
        hint: 'keep one of them',
      })
    }
    properties.set(name, pair.slice(at + 1))
  }
  return Object.fromEntries(properties)
}
