import { custom } from '@oclif/core/flags'
import { RmqError } from '../core/index.ts'

const RATE = /^(\d{1,9}(?:\.\d{1,3})?)\/(s|m|h)$/
const SECONDS = { s: 1, m: 60, h: 3600 } as const

/** Reads `100/s`, `90/m`, `10/h` as messages a second. INVALID_ARGUMENT. */
export function parseRate(text: string): number {
  const [, digits, unit] = RATE.exec(text) ?? []
  const perSecond = Number(digits) / SECONDS[unit as keyof typeof SECONDS]
  if (perSecond > 0) return perSecond
  throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is not a rate`, {
    why: 'a rate is a number above zero and a unit: /s, /m or /h',
    hint: 'for example 100/s',
  })
}

export const rateFlag = custom<number>({ parse: async (text) => parseRate(text), helpValue: 'RATE' })
