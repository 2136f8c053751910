import type { MessageListener } from '../../src/core/client/listener.ts'
import type { Runtime } from '../../src/core/model/runtime.ts'
import type { BrokerCall } from './stepped-broker.ts'
import type { StoreView } from './store-view.ts'
import type { SimWorld } from './world.ts'

export interface FaultScene {
  readonly world: SimWorld
  /** A way to the store past every check. */
  readonly view: StoreView
}

/** A defect planted from outside, in what the product is given or in what it asks for; the product is as it is. */
export interface Fault {
  readonly name: string
  /** Invariants that may name it. */
  readonly breaks: readonly number[]
  bend?(runtime: Runtime, scene: FaultScene): Runtime
  around?(call: BrokerCall, next: () => Promise<unknown>, scene: FaultScene): Promise<unknown>
  /** `commit` stores the offset behind these messages under the lock that the client has. */
  listen?(
    listener: MessageListener,
    commit: (call: Parameters<MessageListener>) => Promise<void>,
  ): MessageListener
}
