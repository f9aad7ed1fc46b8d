import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { MessageText } from 'mailparser'
import { bodyStart, dropFields } from './header.ts'
import { BoundedParser, type ChunkCallback, type ParserChunk, parseLimits } from './mime-parser.ts'

/** What the placeholder says of the attachment that it replaces. */
export interface RemovedAttachment {
  readonly filename: string
  readonly contentType: string
  /** In bytes, decoded. */
  readonly size: number
}

/**
 * The message with each attachment replaced by a text file that names it, in the order of `removed`. All else stays byte for
 * byte. The placeholders are attachments too, so that their number and positions stay. The result is held in memory; null
 * where the message cannot be parsed.
 * @param day the day of the removal, as the placeholders show it
 * @throws when `content` cannot be read
 */
export async function withoutAttachments(
  content: Readable,
  removed: readonly RemovedAttachment[],
  day: string,
): Promise<Buffer | null> {
  const parser = new AttachmentRemover(position => placeholderOf(removed[position], position, day))
  parser.on('data', (found: MessageText | { type: 'attachment'; content: Readable; release(): void }) => {
    if (found.type !== 'attachment') return
    found.content.resume()
    found.release()
  })
  let readError: unknown
  content.once('error', error => {
    readError = error
  })
  try {
    await pipeline(content, parser)
  } catch (error) {
    if (readError !== undefined) throw error
    return null
  }
  return Buffer.concat(parser.pieces)
}

interface Placeholder {
  readonly header: string
  readonly body: string
}

function placeholderOf(removed: RemovedAttachment | undefined, position: number, day: string): Placeholder {
  const { filename, contentType, size } = removed ?? { filename: 'without a name', contentType: 'unknown', size: 0 }
  const text = `The attachment "${filename}" (${contentType}, ${size} bytes) was removed on ${day}.\r\n`
  const body = Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n')
  const header = [
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="removed-${position + 1}.txt"`,
    '\r\n',
  ]
  return { header: header.join('\r\n'), body: `${body}\r\n` }
}

/** Copies a message except for what the parser treats as attachments. */
class AttachmentRemover extends BoundedParser {
  readonly pieces: Buffer[] = []
  private position = 0
  private isInAttachment = false
  private readonly placeholder: (position: number) => Placeholder

  constructor(placeholder: (position: number) => Placeholder) {
    super(parseLimits)
    this.placeholder = placeholder
  }

  override processChunk(chunk: ParserChunk, done: ChunkCallback): void {
    // Copied first: the parser decodes a part's bytes in place.
    const copy = chunk.type === 'node' ? chunk.getHeaders() : Buffer.from(chunk.value)
    super.processChunk(chunk, error => {
      if (!error) this.copy(chunk, copy)
      done(error)
    })
  }

  private copy(chunk: ParserChunk, bytes: Buffer): void {
    if (chunk.type === 'node') {
      this.isInAttachment = this.isAttachment(chunk)
      this.pieces.push(...(this.isInAttachment ? this.replace(bytes) : [bytes]))
    } else if (chunk.type === 'data' || !this.isInAttachment) this.pieces.push(bytes)
  }

  private replace(head: Buffer): readonly Buffer[] {
    const { header, body } = this.placeholder(this.position++)
    const fields = dropFields(head.subarray(0, bodyStart(head) ?? head.length), ({ key }) => key.startsWith('content-'))
    const remaining = fields.toString('latin1').replace(/(\r?\n)+$/, '')
    return [Buffer.from(remaining === '' ? '' : `${remaining}\r\n`, 'latin1'), Buffer.from(header), Buffer.from(body)]
  }
}
