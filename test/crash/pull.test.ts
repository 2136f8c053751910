import { once } from 'node:events'
import { expect, it } from 'vitest'
import { RunningRmq } from '../helpers/consumer.ts'
import { rows } from '../helpers/dead-letters.ts'
import { startRmq } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const COUNT = 40

async function filled(body = '') {
  const one = shop()
  const messages = Array.from({ length: COUNT }, (_, i) => ({ body: `m${i} ${body}` }))
  await seed(one.db, 't', 1, messages)
  const committed = async () => Number(rows((await one.run(['offsets', 'list', '-g', 'g'])).stdout)[0]?.[3])
  const rest = async () =>
    (await one.run(['pull', 't', '-g', 'g', '-c', `${COUNT}`, '-f', '%o\\n'])).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map(Number)
  return { ...one, committed, rest }
}

const from = (start: number) => Array.from({ length: COUNT - start }, (_, i) => start + i)

it('a pull that is killed while it writes has committed nothing, and its lock is free at once', async () => {
  // More than a pipe holds, so that it waits for its reader, which does not read.
  const { db, committed, rest } = await filled('x'.repeat(16 * 1024))
  const child = startRmq(['pull', 't', '-g', 'g', '-c', `${COUNT}`], { db })
  await once(child.stdout as NodeJS.ReadableStream, 'readable')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await committed()).toBe(0)
  expect(await rest()).toEqual(from(0))
})

it('a pull that is killed when all was read has committed all of it or nothing', async () => {
  for (let round = 0; round < 4; round++) {
    const { db, run, committed, rest } = await filled()
    const pull = new RunningRmq(db, ['pull', 't', '-g', 'g', '-c', `${COUNT}`])
    await pull.prints(`m${COUNT - 1} `)
    pull.child.kill('SIGKILL')
    await pull.ended
    const offset = await committed()
    expect([0, COUNT]).toContain(offset)
    expect(await rest()).toEqual(from(offset))
    expect((await run(['verify'])).status).toBe(0)
  }
})
