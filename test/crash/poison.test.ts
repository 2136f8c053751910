import { describe, expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, startConsumer, untilMembers, untilOwner } from '../helpers/consumer.ts'
import { json } from '../helpers/dead-letters.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

type Run = ReturnType<typeof shop>['run']

const RETRY = ['--max-reconsume', '3', '--suspend', '50ms']
const deadLetters = async (run: Run) => (await json(run(['dlq', 'list', '-g', 'g', '--json']))).deadLetters
const violations = async (run: Run) => (await json(run(['verify', '--json']))).violations

describe('a message that always fails', () => {
  it('holds its queue while others flow, and after four runs it is a dead letter with its cause', async () => {
    const { db, run } = shop()
    await seed(db, 't', 2, [
      { key: 'a', body: 'bad', queueId: 0 },
      { key: 'a', body: 'behind', queueId: 0 },
      ...Array.from({ length: 3 }, (_, i) => ({ key: 'b', body: `other ${i}`, queueId: 1 })),
    ])
    const log = new HandlerLog()
    const work = `[ "$body" != bad ] || { echo "no route for $body" >&2; exit 7; }`
    const retry = ['--max-reconsume', '3', '--suspend', '400ms']
    const args = ['consume', 't', '-g', 'g', '--orderly', '-e', ...retry, '--exec', log.command(work)]
    expect((await run(args)).status).toBe(0)
    const runs = (queueId: number) =>
      log.starts().flatMap((note) => (note.queueId === queueId ? [`${note.body} ${note.attempt}`] : []))
    expect(runs(0)).toEqual(['bad 1', 'bad 2', 'bad 3', 'bad 4', 'behind 1'])
    expect(runs(1)).toEqual(['other 0 1', 'other 1 1', 'other 2 1'])
    // The other queue did not wait for it: the pauses alone are 400, 800 and 1600 ms.
    const order = log.starts().map(({ body, attempt }) => `${body} ${attempt}`)
    expect(order.indexOf('other 2 1')).toBeLessThan(order.indexOf('bad 4'))
    expect(await deadLetters(run)).toMatchObject([
      {
        body: 'bad',
        key: 'a',
        originTopic: 't',
        originQueueId: 0,
        originQueueOffset: 0,
        attempts: 4,
        lastError: 'no route for bad',
        state: 'dead',
      },
    ])
    expect(await violations(run)).toEqual([])
  })

  it('keeps its attempts over kill -9 and a change of owner', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, [])
    await using broker = await openBroker({ db })
    const log = new HandlerLog()
    // The second run hangs, and is cut by the death of its consumer: it counts.
    const work = `[ "$body" != bad ] || { [ $attempt != 2 ] || sleep 1; echo no; exit 1; }`
    const start = (id: string) =>
      startConsumer(db, 't', '--client-id', id, ...RETRY, '--exec', log.command(work, id))
    const owner = start('a')
    await untilOwner(broker, 'a')
    const heir = start('b')
    await untilMembers(broker, ['a', 'b'])
    await run(['send', 't', '--key', 'k', '-q'], { input: 'bad\ngood\n' })
    await expect.poll(() => log.starts('a').length, PATIENCE).toBe(2)
    owner.signal('SIGKILL')
    await expect.poll(() => log.bodies().at(-1), PATIENCE).toBe('good')
    expect(log.starts().map(({ who, body, attempt }) => `${who} ${body} ${attempt}`)).toEqual([
      'a bad 1',
      'a bad 2',
      'b bad 3',
      'b bad 4',
      'b good 1',
    ])
    expect(log.overlaps()).toEqual([])
    heir.signal('SIGTERM')
    await heir.ended
    expect(await deadLetters(run)).toMatchObject([{ body: 'bad', attempts: 4 }])
    expect(await violations(run)).toEqual([])
  })
})

describe('a message that kills its consumer', () => {
  const bodies = ['m0', 'm1', 'bad', 'm3', 'm4']

  /** Starts the consumer again until one of them comes to the end; answers how many were killed. */
  async function consumeToTheEnd(run: Run, handler: readonly string[]): Promise<number> {
    for (let killed = 0; killed < 10; killed++) {
      const { status, signal } = await run([
        'consume',
        't',
        '-g',
        'g',
        '--orderly',
        '-e',
        '--max-reconsume',
        '2',
        ...handler,
      ])
      if (signal === null) {
        expect(status).toBe(0)
        return killed
      }
      expect(signal).toBe('SIGKILL')
    }
    throw new Error('the message went on killing')
  }

  it('runs into its limit, and those around it are not charged (--exec)', async () => {
    const { db, run } = shop()
    await seed(
      db,
      't',
      1,
      bodies.map((body) => ({ key: 'k', body })),
    )
    const log = new HandlerLog()
    const handler = ['--exec', log.command('[ "$body" != bad ] || kill -9 $PPID')]
    expect(await consumeToTheEnd(run, handler)).toBe(3)
    expect(log.starts().map(({ body, attempt }) => `${body} ${attempt}`)).toEqual([
      'm0 1',
      'm1 1',
      'bad 1',
      'bad 2',
      'bad 3',
      'm3 1',
      'm4 1',
    ])
    expect(await deadLetters(run)).toMatchObject([{ body: 'bad', attempts: 3, originQueueOffset: 2 }])
    expect(await violations(run)).toEqual([])
  })

  it('the same with one long-lived handler, whose answers to others were not lost', async () => {
    const { db, run } = shop()
    await seed(
      db,
      't',
      1,
      bodies.map((body) => ({ key: 'k', body })),
    )
    const log = new HandlerLog()
    const answer = `
while read -r line; do
  echo "$line" >> '${log.folder}/records'
  case $line in *'"body":"bad"'*) kill -9 $PPID; sleep 1;; esac
  id=$(echo "$line" | sed 's/^{"msgId":"\\([0-9A-F]*\\)".*/\\1/')
  echo "{\\"id\\":\\"$id\\",\\"status\\":\\"success\\"}"
done`
    expect(await consumeToTheEnd(run, ['--pipe', answer])).toBe(3)
    const seen = log.records('records').map(({ body, reconsumeTimes }) => `${body} ${reconsumeTimes}`)
    expect(seen.filter((run) => run.startsWith('bad'))).toEqual(['bad 0', 'bad 1', 'bad 2'])
    // A repeat is allowed after a kill; a count of attempts is not.
    expect(new Set(seen.filter((run) => !run.startsWith('bad')))).toEqual(
      new Set(['m0 0', 'm1 0', 'm3 0', 'm4 0']),
    )
    expect(await deadLetters(run)).toMatchObject([{ body: 'bad', attempts: 3 }])
    expect(await violations(run)).toEqual([])
  })
})
