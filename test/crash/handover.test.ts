import { expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { startConsumer, untilOwner } from '../helpers/consumer.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const TOOK_OVER = /took over t queue 0/

it('only the one that follows a killed consumer took its queue over: those behind it were handed it', async () => {
  const { db } = shop()
  await seed(db, 't', 1, [{ key: 'k', body: 'm0' }])
  await using broker = await openBroker({ db })
  const killed = startConsumer(db, 't', '--client-id', 'a')
  await killed.prints('m0\n')
  killed.signal('SIGKILL')
  await killed.ended
  const told: boolean[] = []
  for (const id of ['b', 'c', 'd']) {
    const next = startConsumer(db, 't', '--client-id', id)
    await untilOwner(broker, id)
    next.signal('SIGTERM')
    expect(await next.ended).toEqual([0, null])
    told.push(TOOK_OVER.test(next.stderr))
  }
  expect(told).toEqual([true, false, false])
})
