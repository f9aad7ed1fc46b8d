/** Bytes of a blob in a segment: its chunks with these numbers, 0-based, and their lengths, in order. */
export interface SegmentPart {
  readonly blob: string
  /** Of the whole blob, in hexadecimal. */
  readonly sha256: string
  /** Of the whole blob. */
  readonly size: number
  readonly chunks: readonly (readonly [position: number, bytes: number])[]
}

/** A chunk as the database has it. */
export interface SegmentChunk {
  readonly part: SegmentPart
  readonly position: number
  readonly bytes: Buffer
}

/** Four bytes: the length of the list of parts; the list as JSON; the bytes of the chunks, in the order of the list. */
export function writeSegment(parts: readonly SegmentPart[], chunks: readonly Buffer[]): Buffer {
  const list = Buffer.from(JSON.stringify(parts))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(list.length)
  return Buffer.concat([length, list, ...chunks])
}

/** The chunks of a segment. @throws where it is not one, or has bytes too many or too few */
export function readSegment(bytes: Buffer): {
  readonly parts: readonly SegmentPart[]
  readonly chunks: readonly SegmentChunk[]
} {
  const listEnd = 4 + bytes.readUInt32BE(0)
  const parts = JSON.parse(bytes.subarray(4, listEnd).toString('utf8')) as readonly SegmentPart[]
  let at = listEnd
  const chunks = parts.flatMap(part =>
    part.chunks.map(([position, length]) => {
      at += length
      return { part, position, bytes: bytes.subarray(at - length, at) }
    }),
  )
  if (at !== bytes.length) throw new Error(`it lists ${at - listEnd} bytes and has ${bytes.length - listEnd}`)
  return { parts, chunks }
}
