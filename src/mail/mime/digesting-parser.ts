import type { Hash } from 'node:crypto'
import { PassThrough, type Transform } from 'node:stream'
import {
  BoundedParser,
  type ChunkCallback,
  type MailParserInternals,
  type MimeBody,
  type ParserChunk,
} from '../mime-parser.ts'
import { type Base64Decoder, decodeSteps } from './native-base64.ts'

/** The parser for when nobody reads the attachments: it takes their sizes and hashes, and gives no bytes of them. */
export class DigestingParser extends BoundedParser {
  private digest: AttachmentDigest | undefined

  override processChunk(chunk: ParserChunk, done: ChunkCallback): void {
    super.processChunk(chunk, done)
    if (this.isAttachment(chunk)) this.openDigest()
  }

  protected override processBody(body: MimeBody, done: ChunkCallback): void {
    const { curnode } = this as unknown as MailParserInternals
    const digest = curnode && this.digest?.decoder === curnode.decoder ? this.digest : undefined
    const value = digest ? digest.update(body.value) : body.value
    if (value.length === 0) done()
    else super.processBody({ ...body, value }, done)
  }

  private openDigest(): void {
    const { curnode, attachmentList } = this as unknown as MailParserInternals
    const output = attachmentList.at(-1)?.content as AttachmentHash | undefined
    const { decoder, node } = curnode || {}
    if (decoder && node && output && decoder !== this.digest?.decoder)
      this.digest = new AttachmentDigest(decoder, node.encoding, output)
  }
}

/** The stream of an attachment, which hashes and counts what passes (mailparser, lib/stream-hash.js). */
interface AttachmentHash {
  readonly hash: Hash
  byteCount: number
}

/** The size and the hash of an attachment that nobody reads, taken without the streams that decode it. */
class AttachmentDigest {
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
