import { describe, expect, it } from 'vitest'
import { rmq } from '../helpers/rmq.ts'

describe('help and version', () => {
  it.each([
    [[], 'USAGE'],
    [['--help'], 'TOPICS'],
    [['-h'], 'TOPICS'],
    [['topics'], 'topics create'],
    [['topics', '--help'], 'topics create'],
    [['topics', 'create', '-h'], '--queues'],
    [['topic', 'create', '--help'], '--queues'],
    [['help'], 'TOPICS'],
    [['help', 'locks', 'release'], '--force'],
    [['help', 'exit-codes'], 'EXIT CODES'],
    [['help', 'ordering'], 'ORDERING'],
    [['help', 'filters'], 'FILTERS'],
    [['help', 'formatting'], 'FORMATTING'],
    [['help', 'environment'], 'ENVIRONMENT'],
    [['--version'], 'rmq/'],
  ])('%j', async (args, word) => {
    const { status, stdout, stderr } = await rmq(args)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain(word)
  })

  it('has an example for every command', async () => {
    const { stdout } = await rmq(['--help'])
    const topics = [
      ...(stdout.match(/(?<=TOPICS\n)[\s\S]*?(?=\n\n)/)?.[0] ?? '').matchAll(/^ {2}(\w[\w-]*)/gm),
    ]
    expect(topics.map(([, topic]) => topic)).toEqual(expect.arrayContaining(['topics', 'locks', 'offsets']))
    for (const command of ['topics create', 'groups describe', 'locks watch', 'peek', 'queue-of', 'verify']) {
      expect((await rmq([...command.split(' '), '--help'])).stdout).toContain('EXAMPLES')
    }
  })

  it('does not know what does not exist', async () => {
    expect((await rmq(['help', 'nonsense'])).status).toBe(2)
  })
})
