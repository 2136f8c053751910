import { describe, expect, it } from 'vitest'
import {
  beginHooks,
  type ConsumeHookContext,
  type ConsumeReturnType,
  type EndedRun,
  returnTypeOf,
} from '../../../src/core/client/consume-hook.ts'

const run = { group: 'mailer', mq: { topic: 'orders', brokerName: 'b', queueId: 0 }, messages: [] }
const MINUTES_15 = 900_000

function ended(status: EndedRun['status'], more: Partial<EndedRun> = {}): EndedRun {
  return { status, threw: false, durationMs: 5, timeoutMs: MINUTES_15, ...more }
}

describe('the label of a run', () => {
  // In RocketMQ's order: no status (thrown or null), too late, suspended, else success.
  it.each<[ConsumeReturnType, EndedRun]>([
    ['SUCCESS', ended('success')],
    ['SUCCESS', ended('commit')],
    ['SUCCESS', ended('rollback')],
    ['FAILED', ended('retry')],
    ['FAILED', ended('dead-letter')],
    ['EXCEPTION', ended(null, { threw: true })],
    ['RETURNNULL', ended(null)],
    ['TIME_OUT', ended('success', { durationMs: MINUTES_15 })],
    ['SUCCESS', ended('success', { durationMs: MINUTES_15 - 1 })],
    ['TIME_OUT', ended('retry', { durationMs: MINUTES_15 })],
    ['EXCEPTION', ended(null, { threw: true, durationMs: MINUTES_15 })],
  ])('is %s for %j', (label, end) => {
    expect(returnTypeOf(end)).toBe(label)
  })
})

describe('hooks', () => {
  it('see the run before and after, in their order, with the same object', () => {
    const seen: string[] = []
    const contexts = new Set<ConsumeHookContext>()
    const hook = (name: string) => ({
      before: (context: ConsumeHookContext) => {
        contexts.add(context)
        seen.push(`${name} before ${context.status} ${context.success}`)
      },
      after: (context: ConsumeHookContext) => {
        contexts.add(context)
        seen.push(`${name} after ${context.status} ${context.success}`)
      },
    })
    beginHooks([hook('a'), hook('b')], run, () => {})(ended('success'))
    expect(seen).toEqual([
      'a before null false',
      'b before null false',
      'a after SUCCESS true',
      'b after SUCCESS true',
    ])
    expect([...contexts]).toMatchObject([{ group: 'mailer', mq: run.mq }])
    expect(contexts.size).toBe(1)
  })

  it.each<[boolean, EndedRun]>([
    [true, ended('commit')],
    [true, ended('success', { durationMs: MINUTES_15 })],
    [false, ended('rollback')],
    [false, ended('retry')],
    [false, ended(null, { threw: true })],
  ])('are told success %s by the answer alone: %j', (success, end) => {
    let told: boolean | undefined
    const after = (context: ConsumeHookContext) => {
      told = context.success
    }
    beginHooks([{ after }], run, () => {})(end)
    expect(told).toBe(success)
  })

  it('that throw are reported, and stop nobody', () => {
    const errors: unknown[] = []
    const seen: string[] = []
    const broken = {
      before: () => {
        throw new Error('no tracer')
      },
    }
    const sound = { before: () => void seen.push('before'), after: () => void seen.push('after') }
    beginHooks([broken, sound], run, (error) => errors.push(error))(ended('success'))
    expect(errors).toMatchObject([{ message: 'no tracer' }])
    expect(seen).toEqual(['before', 'after'])
  })
})
