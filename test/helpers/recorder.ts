import type { OutputStream } from '../../src/ui/output.ts'

/** A stream that keeps what is written, as a terminal or as a pipe. */
export function recorder(
  look: { readonly isTTY?: boolean; readonly columns?: number } = {},
): OutputStream & { readonly text: () => string } {
  const chunks: Buffer[] = []
  return {
    ...look,
    write: (chunk, done) => {
      chunks.push(Buffer.from(chunk))
      done?.()
      return true
    },
    text: () => Buffer.concat(chunks).toString(),
  }
}
