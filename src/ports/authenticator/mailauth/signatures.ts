import { setImmediate } from 'node:timers/promises'
import type { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import { parseHeaders } from 'mailauth/lib/tools.js'
import { filePieces } from '../../../base/file-pieces.ts'
import type { MessageSource } from '../../../mail/message-source.ts'
import { crlfNormalizer } from '../../../mail/seven-bit/crlf.ts'
import { isReadableHeader, type LimitedHeaders, limitHeaders, maxHeaderBytes } from './header-limits.ts'
import { newKeyCache, type ReadKeys } from './key-cache.ts'
import type { MailauthResolve } from './resolver.ts'
import { describeException } from './result.ts'
import { VerdictOnlyVerifier } from './verdict-only-verifier.ts'

/** A message that mailauth has read: From fields, verified DKIM signatures, ARC sets. */
export interface VerifiedMessage {
  readonly verifier: DkimVerifier
  /** What was left out of the header; null: the header section is too long to be read at all. */
  readonly limits: LimitedHeaders | null
  /** What mailauth threw for this message; null: nothing. */
  readonly error: string | null
}

/** Large, because mailauth searches a body without line ends from its start for every chunk. */
const fileChunkBytes = 1024 * 1024
/** What files are read into, kept so that a message leaves the garbage collector nothing. */
const spareBuffers: Buffer[] = []
const maxSpareBuffers = 2

/**
 * Reads a message once, with CRLF line ends, and verifies its DKIM signatures.
 *
 * Workaround for mailauth 7.1: this is its `dkimVerify` without the stream, which reads each byte twice more and makes a chunk
 * of every bare LF (5 MB of them took 4 s). The result is the same.
 * @throws what reading a spooled file throws
 */
export async function verifySignatures(
  content: MessageSource,
  resolver: MailauthResolve,
  readKeys: ReadKeys,
): Promise<VerifiedMessage> {
  const verifier = new VerdictOnlyVerifier({ resolver, strict: true })
  verifier.keyCache = verifier.arc.keyCache = newKeyCache(resolver, readKeys)
  const chunks = chunksOf(content)
  try {
    const { header, rest } = await readHeader(chunks)
    if (!isReadableHeader(header)) return { verifier, limits: null, error: null }
    const limits = limitHeaders(parseHeaders(header))
    await verifier.messageHeaders(limits.headers)
    if (rest.length > 0) await verifier.nextChunk(rest)
    if (limits.needsBody) for await (const chunk of chunks) await verifier.nextChunk(chunk)
    await verifier.finalChunk()
    return { verifier, limits, error: null }
  } catch (error) {
    if (isSystemError(error)) throw error
    return { verifier, limits: null, error: describeException(error) }
  } finally {
    await chunks.return(undefined)
  }
}

/** The header section with the empty line that ends it, and what was read beyond it: valid until the next chunk is read. */
async function readHeader(chunks: AsyncGenerator<Buffer>): Promise<{ header: Buffer; rest: Buffer }> {
  let read: Buffer = Buffer.alloc(0)
  for (;;) {
    const next = await chunks.next()
    const bytes = next.done ? read : read.length === 0 ? next.value : Buffer.concat([read, next.value])
    const end = headerEnd(bytes)
    if (end >= 0) return { header: Buffer.from(bytes.subarray(0, end)), rest: bytes.subarray(end) }
    read = Buffer.from(bytes)
    if (next.done || read.length > maxHeaderBytes) return { header: read, rest: Buffer.alloc(0) }
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/** Where the body starts: after the first empty line; -1 when there is none yet. */
function headerEnd(bytes: Buffer): number {
  if (bytes[0] === 0x0d && bytes[1] === 0x0a) return 2
  const at = bytes.indexOf('\r\n\r\n')
  return at < 0 ? -1 : at + 4
}

/** Each chunk is valid until the next one is read. */
async function* chunksOf(content: MessageSource): AsyncGenerator<Buffer> {
  const normalizer = crlfNormalizer()
  switch (content.kind) {
    case 'memory':
      yield normalizer.write(content.bytes)
      break
    case 'file': {
      const buffer = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(fileChunkBytes)
      try {
        for (const chunk of filePieces(content.path, () => buffer)) {
          yield normalizer.write(chunk)
          // So that other work has its turn.
          await setImmediate()
        }
      } finally {
        if (spareBuffers.length < maxSpareBuffers) spareBuffers.push(buffer)
      }
      break
    }
    default:
      content satisfies never
  }
  const rest = normalizer.end()
  if (rest.length > 0) yield rest
}
