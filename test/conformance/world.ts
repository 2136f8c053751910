import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe } from 'vitest'
import { type Broker, openBroker } from '../../src/core/index.ts'

/** One broker, and any number of clients of it, as a test sees them. */
export interface World {
  /** A client of its own: its consumers are other members than those of another one. */
  connect(): Promise<Broker>
  close(): Promise<void>
}

/** A kind of broker that the suite runs on. */
interface Kind {
  readonly name: string
  start(): Promise<World>
}

const embedded: Kind = {
  name: 'a file',
  start: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rmq-conformance-'))
    const brokers: Broker[] = []
    return {
      connect: async () => {
        const broker = await openBroker({ db: join(folder, 'rmq.db') })
        brokers.push(broker)
        return broker
      },
      close: async () => {
        for (const broker of brokers) await broker.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
}

const KINDS: readonly Kind[] = [embedded]

/**
 * Describes what the public client does, on every kind of broker: the tests know the Broker interface and the public
 * API only. `world` is the one of the running test.
 */
export function conformance(what: string, tests: (world: () => World) => void): void {
  describe.each(KINDS)(`${what}, on $name`, ({ start }) => {
    let current: World | undefined
    beforeEach(async () => {
      current = await start()
    })
    afterEach(async () => {
      await current?.close()
    })
    tests(() => {
      if (!current) throw new Error('no test is running')
      return current
    })
  })
}
