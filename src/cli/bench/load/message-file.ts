/** Messages in one file, each after its length in four bytes (big-endian). */
export function packMessages(messages: readonly Buffer[]): Buffer {
  return Buffer.concat(
    messages.flatMap(message => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(message.length)
      return [length, message]
    }),
  )
}

export function unpackMessages(packed: Buffer): Buffer[] {
  const messages: Buffer[] = []
  for (let at = 0; at < packed.length; ) {
    const end = at + 4 + packed.readUInt32BE(at)
    messages.push(packed.subarray(at + 4, end))
    at = end
  }
  return messages
}
