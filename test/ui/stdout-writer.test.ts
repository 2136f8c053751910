import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderGone } from '../../src/ui/output.ts'
import { StdoutWriter } from '../../src/ui/stdout-writer.ts'
import { tempFolder } from '../helpers/temp.ts'

/** Linux gives a pipe this much room. */
const PIPE_BYTES = 64 * 1024

/** A named pipe whose two ends this test holds. */
function pipe() {
  const path = join(tempFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const fd = openSync(path, constants.O_WRONLY)
  const writer = new StdoutWriter(fd)
  let isOpen = true
  const leave = () => {
    if (isOpen) closeSync(reader)
    isOpen = false
  }
  onTestFinished(() => {
    leave()
    closeSync(fd)
  })
  return { writer, leave, read: (bytes: number) => readExactly(reader, bytes) }
}

async function readExactly(fd: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes)
  let at = 0
  while (at < bytes) {
    try {
      at += readSync(fd, buffer, at, bytes - at, null)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return buffer
}

/** What became of each promise, as far as it is known now. */
function watch(promises: readonly Promise<void>[]): string[] {
  const states = promises.map(() => 'waits')
  for (const [i, promise] of promises.entries()) {
    promise.then(
      () => {
        states[i] = 'written'
      },
      (error) => {
        states[i] = error.name
      },
    )
  }
  return states
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 60))

describe('StdoutWriter', () => {
  it('writes in order and resolves when the system has the bytes', async () => {
    const { writer, read } = pipe()
    await Promise.all(['a', 'bc', '', 'd'].map((text) => writer.write(Buffer.from(text))))
    expect((await read(4)).toString()).toBe('abcd')
    await writer.close()
  })

  it('resolves a record only when its last byte is in the pipe', async () => {
    const { writer, read } = pipe()
    const states = watch([writer.write(Buffer.alloc(PIPE_BYTES + 1, 'x')), writer.write(Buffer.from('y'))])
    await settle()
    expect(states).toEqual(['waits', 'waits'])
    await read(PIPE_BYTES)
    await expect.poll(() => states).toEqual(['written', 'written'])
    expect((await read(2)).toString()).toBe('xy')
    await writer.close()
  })

  it('tells whole records from cut ones when the reader goes away', async () => {
    const { writer, read, leave } = pipe()
    const sizes = [10, 20, PIPE_BYTES, 30]
    const states = watch(sizes.map((size) => writer.write(Buffer.alloc(size, 'x'))))
    await expect.poll(() => states).toEqual(['written', 'written', 'waits', 'waits'])
    await read(5)
    leave()
    await expect.poll(() => states).toEqual(['written', 'written', 'ReaderGone', 'ReaderGone'])
    expect(writer.isReaderGone).toBe(true)
    await expect(writer.write(Buffer.from('z'))).rejects.toBeInstanceOf(ReaderGone)
    await writer.close()
  })

  it('lets timers run while the reader stands still, and goes on when it reads again', async () => {
    const { writer, read } = pipe()
    const written = writer.write(Buffer.alloc(PIPE_BYTES * 3, 'x'))
    let ticks = 0
    const timer = setInterval(() => ticks++, 5)
    await new Promise((resolve) => setTimeout(resolve, 200))
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(5)
    await Promise.all([read(PIPE_BYTES * 3), written])
    await writer.close()
  })

  it('gives up on what waits when it is told to', async () => {
    const { writer } = pipe()
    const states = watch([writer.write(Buffer.alloc(PIPE_BYTES * 2)), writer.write(Buffer.from('y'))])
    await settle()
    writer.abandon(new RangeError('enough'))
    await writer.close()
    expect(states).toEqual(['RangeError', 'RangeError'])
    expect(writer.isReaderGone).toBe(false)
  })

  it('writes files too, at the end of what others wrote there', async () => {
    const path = join(tempFolder(), 'out')
    const fd = openSync(path, 'a')
    const writer = new StdoutWriter(fd)
    await Promise.all([writer.write(Buffer.from('a')), writer.write(Buffer.from('b'))])
    await writer.write(Buffer.from('c'))
    await writer.close()
    closeSync(fd)
    expect(readFileSync(path, 'utf8')).toBe('abc')
  })

  it('fails with what the system says', async () => {
    const fd = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(fd))
    const writer = new StdoutWriter(fd)
    await expect(writer.write(Buffer.from('a'))).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(writer.isReaderGone).toBe(false)
    await writer.close()
  })
})
