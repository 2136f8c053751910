/** Bytes at the beginning of a body that hold the time of its sending. */
export const STAMP_BYTES = 8

/** A copy of the body that begins with `time`. */
export function stamped(body: Uint8Array, time: number): Uint8Array {
  const copy = Uint8Array.from(body)
  new DataView(copy.buffer).setFloat64(0, time)
  return copy
}

export function stampOf(body: Uint8Array): number {
  return new DataView(body.buffer, body.byteOffset, body.byteLength).getFloat64(0)
}
