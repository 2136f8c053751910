import { storeError } from './store-errors.ts'

/** The same object, whose methods throw and reject with errors of rmq where SQLite or the file system failed. */
export function translateErrors<T extends object>(target: T, path: string): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]) => {
        try {
          const result: unknown = value.apply(target, parameters)
          return result instanceof Promise ? result.catch(rethrow) : result
        } catch (error) {
          return rethrow(error)
        }
      }
    },
  })

  function rethrow(error: unknown): never {
    throw storeError(error, path)
  }
}
