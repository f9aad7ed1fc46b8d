import {
  BoundedParser,
  type ChunkCallback,
  type MailParserInternals,
  type MimeBody,
  type ParserChunk,
} from '../mime-parser.ts'
import { AttachmentDigest, type AttachmentHash } from './attachment-digest.ts'

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
