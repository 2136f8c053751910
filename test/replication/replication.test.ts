import { expect, test } from 'vitest'
import { loadHistory } from './data.ts'
import { makePlan } from './plan.ts'
import { replicate } from './replicate.ts'

const SEED = Number(process.env.RMQ_SEED ?? 1)
const KILLS = 10
const data = loadHistory('litestream-git')

test(`${data.total} changes of ${data.name}: three consumers, ten kills, in order to the end, no repeat too many`, {
  timeout: 300_000,
}, async () => {
  const told = `seed ${SEED}, ${data.total} changes of ${data.name}`
  const { problems, kills, applied, folder } = await replicate(data, SEED, KILLS)
  const again = `npm run replication -- --seed ${SEED} --data litestream-git; what it left: ${folder}`
  expect(problems, `${told}; again with: ${again}`).toEqual([])
  expect(applied).toBe(data.total)
  expect(kills).toBe(KILLS)
})

test('a seed gives the same plan, another seed another', () => {
  expect(makePlan(7, 10, 1000)).toEqual(makePlan(7, 10, 1000))
  expect(makePlan(8, 10, 1000)).not.toEqual(makePlan(7, 10, 1000))
  const { kills } = makePlan(7, 200, 1000)
  expect(new Set(kills.map((kill) => kill.reach))).toEqual(new Set(['consumer', 'group']))
  expect(kills.every((kill) => kill.atProgress >= 20 && kill.atProgress < 920)).toBe(true)
})
