import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { MessageText } from 'mailparser'
import { bodyStart, dropFields } from './header.ts'
import { BoundedParser, type ChunkCallback, type ParserChunk, parseLimits } from './mime-parser.ts'

/** What is said of an attachment in its place. */
export interface RemovedAttachment {
  readonly filename: string
  readonly contentType: string
  /** Bytes, decoded. */
  readonly size: number
}

/**
 * The message with a text in the place of each attachment, in the order of `removed`, that says what it was; all else stays
 * byte for byte, so that its text and header read as before. Each text is an attachment too: their number stays. Null where
 * the message cannot be taken apart. It is held in memory without the attachments. @throws when `content` cannot be read
 */
export async function withoutAttachments(
  content: Readable,
  removed: readonly RemovedAttachment[],
  day: string,
): Promise<Buffer | null> {
  const parser = new Stripper(position => placeholderOf(removed[position], position, day))
  parser.on('data', (found: MessageText | { type: 'attachment'; content: Readable; release(): void }) => {
    if (found.type !== 'attachment') return
    found.content.resume()
    found.release()
  })
  let fault: unknown
  content.once('error', error => {
    fault = error
  })
  try {
    await pipeline(content, parser)
  } catch (error) {
    if (fault !== undefined) throw error
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

/** Decides what is an attachment as the parser itself does, and copies all else. */
class Stripper extends BoundedParser {
  readonly pieces: Buffer[] = []
  private position = 0
  private isPassingOver = false
  private readonly placeholder: (position: number) => Placeholder

  constructor(placeholder: (position: number) => Placeholder) {
    super(parseLimits)
    this.placeholder = placeholder
  }

  override processChunk(chunk: ParserChunk, done: ChunkCallback): void {
    // A part's bytes are decoded in place.
    const copy = chunk.type === 'node' ? chunk.getHeaders() : Buffer.from(chunk.value)
    super.processChunk(chunk, error => {
      if (!error) this.keep(chunk, copy)
      done(error)
    })
  }

  private keep(chunk: ParserChunk, bytes: Buffer): void {
    if (chunk.type === 'node') {
      this.isPassingOver = this.isAttachment(chunk)
      this.pieces.push(...(this.isPassingOver ? this.replaced(bytes) : [bytes]))
    } else if (chunk.type === 'data' || !this.isPassingOver) this.pieces.push(bytes)
  }

  private replaced(head: Buffer): readonly Buffer[] {
    const { header, body } = this.placeholder(this.position++)
    const fields = dropFields(head.subarray(0, bodyStart(head) ?? head.length), ({ key }) => key.startsWith('content-'))
    const kept = fields.toString('latin1').replace(/(\r?\n)+$/, '')
    return [Buffer.from(kept === '' ? '' : `${kept}\r\n`, 'latin1'), Buffer.from(header), Buffer.from(body)]
  }
}
