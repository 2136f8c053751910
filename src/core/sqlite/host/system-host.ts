import type { Runtime } from '../../model/runtime.ts'
import type { Host, Liveness } from '../host.ts'
import { holdLivenessFile, isLivenessFileHeld } from './liveness-file.ts'
import { handlerRuns, ownIdentity, witness } from './process-identity.ts'
import { SignalFile } from './signal-file.ts'

/** The machine as it is, for the database at `dbPath`. Its wake-up file lies beside it: `<dbPath>.signal`. */
export function systemHost(dbPath: string, runtime: Runtime): Host {
  const identity = ownIdentity()
  const liveness: Liveness = {
    hold: holdLivenessFile,
    isHeld: isLivenessFileHeld,
    witness: (other) => witness(identity, other),
    handlerRuns: (owner, handler) => handlerRuns(identity, owner, handler),
  }
  return { runtime, process: identity, liveness, wakeUp: new SignalFile(`${dbPath}.signal`) }
}
