/** The part of a blob in a segment: the positions of its chunks, from 0, and their lengths, in order. */
export interface SegmentPart {
  readonly blob: string
  /** Of the whole blob, in hexadecimal. */
  readonly sha256: string
  /** Of the whole blob. */
  readonly size: number
  readonly chunks: readonly (readonly [position: number, bytes: number])[]
}

/** A chunk of a blob, as in the database. */
export interface SegmentChunk {
  readonly part: SegmentPart
  readonly position: number
  readonly bytes: Buffer
}

/** A segment: the length of the list of parts in four bytes, the list as JSON, the bytes of the chunks in the order of the list. */
export function writeSegment(parts: readonly SegmentPart[], chunks: readonly Buffer[]): Buffer {
  const list = Buffer.from(JSON.stringify(parts))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(list.length)
  return Buffer.concat([length, list, ...chunks])
}

/** Reads a segment. @throws when it is not one, or has too many or too few bytes */
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
