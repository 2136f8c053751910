import { describe, expect, it } from 'vitest'
import { Output, type OutputStream, ReaderGone } from '../../src/ui/output.ts'
import { recorder } from '../helpers/recorder.ts'

function outputTo(stream: OutputStream): Output {
  return new Output({ stream, env: {}, color: undefined, now: () => 0 })
}

describe('Output', () => {
  it('prints JSON as one line into a pipe and indented on a terminal', async () => {
    const pipe = recorder()
    await outputTo(pipe).json({ topics: [1] })
    expect(pipe.text()).toBe('{"topics":[1]}\n')
    const terminal = recorder({ isTTY: true })
    await outputTo(terminal).json({ topics: [1] })
    expect(terminal.text()).toBe('{\n  "topics": [\n    1\n  ]\n}\n')
  })

  it('prints a record as one line everywhere', async () => {
    const terminal = recorder({ isTTY: true })
    await outputTo(terminal).record({ name: 'a\u009b' })
    expect(terminal.text()).toBe('{"name":"a\\u009b"}\n')
  })

  it('separates blocks for people only', async () => {
    const pipe = recorder()
    await outputTo(pipe).gap()
    expect(pipe.text()).toBe('')
    const terminal = recorder({ isTTY: true })
    await outputTo(terminal).gap()
    expect(terminal.text()).toBe('\n')
  })

  it.each([
    ['EPIPE', ReaderGone],
    ['EIO', Error],
  ])('rejects a write that failed with %s', async (code, kind) => {
    const error = Object.assign(new Error(code), { code })
    const failing: OutputStream = {
      write: (_, done) => {
        done?.(error)
        return false
      },
    }
    const rejected = await outputTo(failing)
      .line('x')
      .catch((reason: unknown) => reason)
    expect(rejected).toBeInstanceOf(kind)
    expect(rejected instanceof ReaderGone).toBe(code === 'EPIPE')
  })
})
