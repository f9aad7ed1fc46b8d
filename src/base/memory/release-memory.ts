/** Memory of less is not worth the call. */
const minBytes = 64 * 1024

/**
 * Frees the memory of bytes that nobody uses any more, at once, where it is theirs alone: the garbage collector leaves it until
 * there are tens of megabytes. What refers to them is then empty.
 */
export function releaseMemory({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= minBytes && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

const sentOnce = new WeakSet<ArrayBufferLike>()

/** Says of bytes with memory of their own that nobody uses them once they were sent. */
export function toBeSentOnce(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) sentOnce.add(bytes.buffer)
  return bytes
}

/** To be called with bytes, or the rest of them, once they were sent: frees the memory of those that are sent once. */
export function releaseSent({ buffer, byteOffset, byteLength }: Uint8Array): void {
  const isEnd = byteOffset + byteLength === buffer.byteLength
  if (isEnd && sentOnce.has(buffer)) releaseMemory(new Uint8Array(buffer))
}
