import type { Broker } from '../broker.ts'
import type { Runtime } from '../model/runtime.ts'
import { EmbeddedBroker } from './embedded-broker.ts'
import { systemHost } from './host/system-host.ts'

/** Opens the embedded broker on this machine. */
export function loadEmbeddedBroker(options: {
  readonly path: string
  readonly durability: 'full' | 'normal'
  readonly create: boolean
  readonly runtime: Runtime
}): Broker {
  const { path, durability, create, runtime } = options
  return EmbeddedBroker.open({ path, durability, create, host: systemHost(path, runtime) })
}
