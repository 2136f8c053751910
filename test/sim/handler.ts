import type { ConsumeContext, Handler } from '../../src/core/client/listener.ts'
import type { HandlerProcess } from '../../src/core/model/lock.ts'
import type { MessageExt } from '../../src/core/model/message.ts'
import type { RunEnd, SimMessage } from './checker/model.ts'
import type { GroupPlan } from './plan.ts'
import { handlerKey, type SimProcess } from './process.ts'
import type { Simulation } from './simulation.ts'

type Status = Exclude<RunEnd, 'cut'>

interface Verdict {
  readonly status: Status
  /** The consumer's process dies in the middle. */
  readonly isFatal: boolean
  readonly afterMs: number
}

/** The handler under test: takes virtual time, and succeeds or fails as the seed and its messages say. */
export function simHandler(sim: Simulation, process: SimProcess, group: GroupPlan): Handler {
  const consume =
    group.handler === 'function'
      ? (messages: readonly MessageExt[], context: ConsumeContext) =>
          runHere(sim, process, group, messages, context)
      : (messages: readonly MessageExt[], context: ConsumeContext) =>
          runInChild(sim, process, group, messages, context)
  return { kind: group.handler, consume, close: async () => {} }
}

function runHere(
  sim: Simulation,
  process: SimProcess,
  group: GroupPlan,
  messages: readonly MessageExt[],
  context: ConsumeContext,
): Status | Promise<Status> {
  const { checker, world } = sim
  const verdict = judge(sim, group, messages)
  const run = checker.beginRun(process, group, context.mq, messages, context.attempt)
  process.onExit(() => {
    if (run.end === undefined) checker.endRun(run, 'cut')
  })
  if (verdict.afterMs === 0 && !verdict.isFatal) {
    checker.endRun(run, verdict.status)
    return verdict.status
  }
  if (verdict.isFatal) world.schedule(undefined, verdict.afterMs / 2, 'crash', () => process.kill())
  return new Promise((resolve) => {
    const end = (status: Status, how: RunEnd) => {
      context.signal.removeEventListener('abort', stop)
      if (run.end !== undefined) return
      checker.endRun(run, how)
      resolve(status)
    }
    const cancel = world.schedule(process, verdict.afterMs, 'handler', () =>
      end(verdict.status, verdict.status),
    )
    const stop = () => {
      cancel()
      end('retry', 'cut')
    }
    // The other half pays no heed to a stop.
    if (world.chance.hit(0.5)) context.signal.addEventListener('abort', stop)
  })
}

/** A handler in a process of its own: it outlives its parent, and a stop of the parent does not stop it. */
async function runInChild(
  sim: Simulation,
  process: SimProcess,
  group: GroupPlan,
  messages: readonly MessageExt[],
  context: ConsumeContext,
): Promise<Status> {
  const { checker, world } = sim
  const child: HandlerProcess = { pid: world.chance.int(500, 520), startTime: `h${world.steps}` }
  const key = handlerKey(child)
  world.handlerStarted(key, process)
  let hasBegun = false
  // It waits for its input, which never comes from a dead parent.
  process.onExit(() => {
    if (!hasBegun) world.handlerEnded(key)
  })
  if (!(await context.runsIn(child))) {
    world.handlerEnded(key)
    return 'retry'
  }
  hasBegun = true
  const verdict = judge(sim, group, messages)
  const run = checker.beginRun(process, group, context.mq, messages, context.attempt)
  if (verdict.isFatal) world.schedule(undefined, verdict.afterMs / 2, 'crash', () => process.kill())
  return new Promise((resolve) => {
    const end = (how: RunEnd) => {
      context.signal.removeEventListener('abort', stop)
      if (run.end !== undefined) return
      world.handlerEnded(key)
      checker.endRun(run, how)
      if (!process.isDead)
        world.schedule(process, 0, 'child exit', () => resolve(how === 'cut' ? 'retry' : how))
    }
    world.schedule(undefined, verdict.afterMs, 'child', () => end(verdict.status))
    const stop = () => end('cut')
    context.signal.addEventListener('abort', stop)
  })
}

function judge(sim: Simulation, group: GroupPlan, messages: readonly MessageExt[]): Verdict {
  const { plan, isCalm } = sim
  const { chance } = sim.world
  const verdicts = messages.map((message) => judgeOne(sim, group, message))
  const status = verdicts.find((one) => one !== 'success') ?? 'success'
  const isLong = !isCalm && chance.hit(0.05)
  const afterMs = isLong
    ? chance.between(0, plan.handlerMsMax)
    : Math.floor(chance.between(0, plan.handlerMs))
  return status === 'fatal'
    ? { status: 'retry', isFatal: true, afterMs }
    : { status, isFatal: false, afterMs }
}

function judgeOne(
  { plan, isCalm, world: { chance } }: Simulation,
  group: GroupPlan,
  message: MessageExt,
): Status | 'fatal' {
  const { kind } = JSON.parse(Buffer.from(message.body).toString()) as SimMessage
  const isReplayed = message.redelivery !== undefined
  const isUnlimited = group.maxReconsumeTimes < 0
  if (!isCalm && chance.hit(plan.failRate)) return 'retry'
  switch (kind) {
    case 'good':
      return 'success'
    case 'rejected':
      return isReplayed ? 'success' : 'dead-letter'
    case 'poison':
      if (!isUnlimited) return isReplayed && chance.hit(0.5) ? 'success' : 'retry'
      break
    case 'fatal':
      if (!isUnlimited) return isReplayed ? 'success' : 'fatal'
      break
    case 'flaky':
      break
  }
  return !isCalm && chance.hit(0.5) ? 'retry' : 'success'
}
