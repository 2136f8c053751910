import { describe, expect, it } from 'vitest'
import { confirmDestructive, type PromptPort, refuseDryRunWithYes } from '../../src/ui/prompt.ts'

/** A person who gives this answer, and what was asked. */
function person(answer: string): PromptPort & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    interactive: true,
    asked,
    ask: async (question) => {
      asked.push(question)
      return answer
    },
  }
}

const NOBODY: PromptPort = {
  interactive: false,
  ask: async () => {
    throw new Error('a question was asked where nobody is')
  },
}

describe('confirmDestructive', () => {
  it.each([
    ['y', true],
    ['Yes', true],
    [' y ', true],
    ['n', false],
    ['', false],
    ['yup', false],
  ])('an answer of %j', async (answer, agreed) => {
    const port = person(answer)
    expect(await confirmDestructive({ action: 'release 2 locks' }, port)).toBe(agreed)
    expect(port.asked).toEqual(['Release 2 locks? [y/N] '])
  })

  it.each([
    ['orders', true],
    ['order', false],
    ['y', false],
  ])('wants the name of what is severe: %j', async (answer, agreed) => {
    expect(await confirmDestructive({ action: 'delete topic orders', name: 'orders' }, person(answer))).toBe(
      agreed,
    )
  })

  it('asks nothing when the flag was given', async () => {
    expect(await confirmDestructive({ action: 'x', yes: true }, NOBODY)).toBe(true)
    expect(await confirmDestructive({ action: 'x', name: 'orders', confirm: 'orders' }, NOBODY)).toBe(true)
  })

  it.each([
    [{ action: 'release 2 locks' }, '--yes'],
    [{ action: 'delete topic orders', name: 'orders' }, '--confirm orders'],
    [{ action: 'delete topic orders', name: 'orders', yes: true }, '--confirm orders'],
  ])('fails where nobody can be asked and names the flag', async (confirmation, flag) => {
    await expect(confirmDestructive(confirmation, NOBODY)).rejects.toThrowError(
      expect.objectContaining({ code: 'CONFIRMATION_REQUIRED', hint: expect.stringContaining(flag) }),
    )
  })

  it('refuses the wrong name, without asking again', async () => {
    const port = person('orders')
    const confirmation = { action: 'delete topic orders', name: 'orders', confirm: 'ordres' }
    await expect(confirmDestructive(confirmation, port)).rejects.toThrowError(
      expect.objectContaining({ code: 'CONFIRMATION_REQUIRED' }),
    )
    expect(port.asked).toEqual([])
  })

  it('does not let a name talk to the terminal', async () => {
    const port = person('n')
    await confirmDestructive({ action: 'delete topic a\u001b[2Jb', name: 'a\u001b[2Jb' }, port)
    expect(port.asked[0]).not.toContain('\u001b')
  })
})

describe('refuseDryRunWithYes', () => {
  it('refuses both, and only both', () => {
    expect(() => refuseDryRunWithYes({ 'dry-run': true, yes: true })).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
    refuseDryRunWithYes({ 'dry-run': true, yes: false })
    refuseDryRunWithYes({ 'dry-run': false, yes: true })
  })
})
