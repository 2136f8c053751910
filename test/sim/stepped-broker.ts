import type { Broker } from '../../src/core/broker.ts'
import type { SimProcess } from './process.ts'

/** One call of a client to its broker. */
export interface BrokerCall {
  /** Such as `commitOffsets` or `attempts.start`. */
  readonly name: string
  readonly args: readonly unknown[]
  readonly process: SimProcess
}

export interface BrokerTap {
  /** The call reaches the broker; `next` carries it out. */
  around(call: BrokerCall, next: () => Promise<unknown>): Promise<unknown>
}

const PARTS = new Set(['attempts', 'redelivery', 'deadLetters'])
const SYNCHRONOUS = new Set<string | symbol>(['onNotification', Symbol.asyncDispose])

/**
 * A broker whose every call, and every return of it, is an event of its process: a kill or a stop may fall between
 * any two awaits of the client, and after a kill no call reaches the store.
 */
export function steppedBroker(broker: Broker, process: SimProcess, tap: BrokerTap): Broker {
  return stepped(broker, '', process, tap)
}

function stepped<T extends object>(target: T, prefix: string, process: SimProcess, tap: BrokerTap): T {
  const made = new Map<string | symbol, unknown>()
  const make = (key: string | symbol): unknown => {
    const value: unknown = Reflect.get(target, key, target)
    if (typeof key === 'string' && PARTS.has(key) && typeof value === 'object' && value !== null) {
      return stepped(value, `${key}.`, process, tap)
    }
    if (typeof value !== 'function') return value
    if (SYNCHRONOUS.has(key)) return value.bind(target)
    const name = `${prefix}${String(key)}`
    return (...args: unknown[]) =>
      crossed(process, name, () =>
        tap.around({ name, args, process }, async () => Reflect.apply(value, target, args)),
      )
  }
  return new Proxy(target, {
    get: (_, key) => {
      if (!made.has(key)) made.set(key, make(key))
      return made.get(key)
    },
  })
}

async function crossed(process: SimProcess, name: string, run: () => Promise<unknown>): Promise<unknown> {
  await process.boundary(`call ${name}`)
  try {
    return await run()
  } finally {
    await process.boundary(`return ${name}`)
  }
}
