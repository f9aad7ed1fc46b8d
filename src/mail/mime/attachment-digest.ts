import type { Hash } from 'node:crypto'
import { PassThrough, type Transform } from 'node:stream'
import { type Base64Decoder, decodeSteps } from './native-base64.ts'

/** The stream of an attachment, which hashes and counts what passes (mailparser, lib/stream-hash.js). */
export interface AttachmentHash {
  readonly hash: Hash
  byteCount: number
}

/** The size and the hash of an attachment that nobody reads, taken without the streams that decode it. */
export class AttachmentDigest {
  readonly decoder: Transform
  private readonly output: AttachmentHash
  private isDirect: boolean

  /** @param encoding the part's transfer encoding, as the parser reads it */
  constructor(decoder: Transform, encoding: string | false, output: AttachmentHash) {
    this.decoder = decoder
    this.output = output
    this.isDirect = encoding === 'base64' || decoder.constructor === PassThrough
  }

  /** Takes a piece of the encoded body; returns what of it the decoder has to decode, from which on it gets the rest. */
  update(piece: Buffer): Buffer {
    // What comes after its end is in no attachment.
    if (!this.isDirect || !this.decoder.writable) return piece
    const rest = piece.subarray(this.updateDirectly(piece))
    this.isDirect = rest.length === 0
    return rest
  }

  private updateDirectly(piece: Buffer): number {
    const take = (bytes: Buffer) => {
      this.output.hash.update(bytes)
      this.output.byteCount += bytes.length
    }
    if (this.decoder.constructor !== PassThrough) return decodeSteps(this.decoder as Base64Decoder, piece, take)
    take(piece)
    return piece.length
  }
}
