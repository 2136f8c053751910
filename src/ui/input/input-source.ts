import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { RmqError } from '../../core/index.ts'

/** What one read of a pipe or file gives when there is more. */
export const CHUNK_BYTES = 64 * 1024

/** Opens a file, or stdin for `-`. */
export function openInput(path: string): Readable {
  return path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES })
}

/** Chunks until the end of the input, or until `signal` is aborted: then it ends at once, without an error. */
export async function* chunksOf(input: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stop = () => input.destroy()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    for await (const chunk of input) {
      if (signal.aborted) return
      yield chunk as Buffer
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** All of it, as one body of at most `bytesMax`. MESSAGE_TOO_LARGE beyond it, before more is read. */
export async function readWhole(input: Readable, bytesMax: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOf(input, signal)) {
    size += chunk.length
    if (size > bytesMax) {
      input.destroy()
      throw new RmqError('MESSAGE_TOO_LARGE', `the body has more than ${bytesMax} bytes`, {
        why: `${size} bytes were read so far, ${bytesMax} are allowed`,
        hint: 'to send each line as a message: --input lines',
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
