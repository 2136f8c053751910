import { hostname } from 'node:os'
import type { Runtime } from '../model/runtime.ts'

/**
 * A client id in RocketMQ's form `host@instance`, unique by construction: host and pid repeat across containers,
 * so 64 random bits make the difference.
 */
export function newClientId(runtime: Runtime): string {
  const half = () =>
    Math.floor(runtime.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return `${hostname()}@${process.pid}#${half()}${half()}`
}
