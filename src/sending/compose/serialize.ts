import type MimeNode from 'nodemailer/lib/mime-node'
import { encode, wrap } from 'nodemailer/lib/qp'

/**
 * The bytes of a message that was composed in memory, with CRLF line ends and without the composer's Date. The composer's
 * own serialization is a chain of streams for each part, which costs several times more than all else.
 */
export function serialize(root: MimeNode): Buffer {
  const header = root.buildHeaders().replace(/^Date: .*\r\n/m, '')
  const pieces: string[] = []
  write(root, header, pieces)
  const message = pieces.join('')
  return Buffer.from(message.endsWith('\r\n') ? message : `${message}\r\n`, 'latin1')
}

function write(node: MimeNode, header: string, pieces: string[]): void {
  pieces.push(header, '\r\n\r\n', encoded(node))
  if (!node.multipart) return
  const delimiter = `--${node.boundary || ''}`
  for (const [i, child] of node.childNodes.entries()) {
    pieces.push(i > 0 ? '\r\n' : '', delimiter, '\r\n')
    write(child, child.buildHeaders(), pieces)
  }
  pieces.push('\r\n', delimiter, '--\r\n')
}

/** A part's content as ASCII. RFC 2045 §6. */
function encoded(node: MimeNode): string {
  const { content } = node
  if (!content) return ''
  if (typeof content !== 'string' && !Buffer.isBuffer(content)) throw new Error('a part is not in memory')
  switch (node.getTransferEncoding()) {
    case 'quoted-printable':
      return wrap(encode(content), 76)
    case 'base64':
      return inLines((typeof content === 'string' ? Buffer.from(content) : content).toString('base64'))
    default:
      return content.toString('latin1').replace(/\r?\n/g, '\r\n')
  }
}

function inLines(base64: string): string {
  const lines: string[] = []
  for (let at = 0; at < base64.length; at += 76) lines.push(base64.slice(at, at + 76))
  return lines.join('\r\n')
}
