import type { Broker } from '../../src/core/index.ts'

/** The same broker, with some of its members replaced. */
export function intercept(broker: Broker, replaced: Partial<Broker>): Broker {
  return new Proxy(broker, {
    get: (target, key) => {
      if (key in replaced) return Reflect.get(replaced, key)
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
