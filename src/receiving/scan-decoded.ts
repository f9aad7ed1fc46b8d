import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { fileRange } from '../base/file-pieces.ts'
import { toBeSentOnce } from '../base/memory/release-memory.ts'
import type { ByteRange } from '../mail/message-source.ts'
import { CanonicalBase64Decoder, NotCanonicalError } from '../mail/mime/canonical-base64.ts'
import type { ScanInput, Scanner, ScanResult } from '../ports/scanner/port.ts'

/** A message to be scanned, in memory, or one that is read as often as it takes. */
export type ScannedMessage =
  | { readonly kind: 'memory'; readonly bytes: Buffer; readonly size: number }
  | { readonly kind: 'file'; readonly path: string; readonly size: number }
  | { readonly kind: 'stored'; readonly read: ReadBytes }

/** The bytes from `start` up to but not including `end` (default: to the end), in pieces. */
export type ReadBytes = (start: number, end?: number) => AsyncIterable<Buffer>

/**
 * Scans a message without these bodies, and each of the bodies by itself, decoded: a scanner takes three times as long to find
 * and decode them. What is found is the worst of these scans. If one of the bodies turns out not to be canonical base64, the
 * message is scanned whole: the scanner may read it differently.
 */
export async function scanDecoded(
  message: ScannedMessage,
  bodies: readonly ByteRange[],
  scanner: Scanner,
): Promise<ScanResult> {
  if (bodies.length === 0) return await scanner.scan(wholeOf(message))
  const split = message.kind === 'memory' ? splitInMemory(message.bytes, bodies) : splitStreams(message, bodies)
  const scans = await Promise.all(split.inputs.map(input => scanner.scan(input)))
  return split.isCanonical() ? worstOf(scans) : await scanner.scan(wholeOf(message))
}

function wholeOf(message: ScannedMessage): ScanInput {
  return message.kind === 'stored' ? streamOf(message.read(0)) : message
}

function streamOf(pieces: AsyncIterable<Buffer>): ScanInput {
  return { kind: 'stream', stream: Readable.from(pieces, { objectMode: false }) }
}

const fileChunkBytes = 256 * 1024

function readerOf(message: Exclude<ScannedMessage, { kind: 'memory' }>): ReadBytes {
  if (message.kind === 'stored') return message.read
  // `end` of a file's stream is its last byte.
  return (start, end = message.size) =>
    createReadStream(message.path, { start, end: end - 1, highWaterMark: fileChunkBytes })
}

/** The bytes of a body, in pieces that are valid until the next one is read. */
function readBody(
  message: Exclude<ScannedMessage, { kind: 'memory' }>,
  { start, end }: ByteRange,
): AsyncIterable<Buffer> {
  if (message.kind === 'stored') return message.read(start, end)
  return fileRange(message.path, { start, end }, Buffer.allocUnsafeSlow(Math.min(fileChunkBytes, end - start)))
}

interface SplitMessage {
  /** The message without the bodies, and each of these. None if it is known at once that one is not canonical. */
  readonly inputs: readonly ScanInput[]
  /** Were all bodies canonical? Known once the inputs were scanned. */
  isCanonical(): boolean
}

function splitInMemory(bytes: Buffer, bodies: readonly ByteRange[]): SplitMessage {
  const remaining = remainingOf(bodies).map(({ start, end }) => bytes.subarray(start, end))
  try {
    const decoded = bodies.map(({ start, end }) => {
      const decoder = new CanonicalBase64Decoder()
      return Buffer.concat([decoder.decode(bytes.subarray(start, end)), decoder.end()])
    })
    return { inputs: [Buffer.concat(remaining), ...decoded].map(inMemory), isCanonical: () => true }
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error
    return { inputs: [], isCanonical: () => false }
  }
}

function inMemory(bytes: Buffer): ScanInput {
  return { kind: 'memory', bytes, size: bytes.length }
}

/** Nothing is read before the scanner reads. */
function splitStreams(
  message: Exclude<ScannedMessage, { kind: 'memory' }>,
  bodies: readonly ByteRange[],
): SplitMessage {
  const read = readerOf(message)
  let isCanonical = true
  async function* decoded(body: ByteRange): AsyncGenerator<Buffer> {
    const decoder = new CanonicalBase64Decoder()
    try {
      for await (const piece of readBody(message, body)) {
        const bytes = decoder.decode(piece)
        if (bytes.length > 0) yield toBeSentOnce(bytes)
      }
      yield decoder.end()
    } catch (error) {
      if (error instanceof NotCanonicalError) isCanonical = false
      throw error
    }
  }
  async function* remaining(): AsyncGenerator<Buffer> {
    for (const { start, end } of remainingOf(bodies)) if (start !== end) yield* read(start, end)
  }
  return {
    inputs: [remaining(), ...bodies.map(decoded)].map(streamOf),
    isCanonical: () => isCanonical,
  }
}

/** What is between and around these ranges; the last is without an end. */
function remainingOf(bodies: readonly ByteRange[]): readonly { readonly start: number; readonly end?: number }[] {
  const starts = [0, ...bodies.map(body => body.end)]
  return starts.map((start, i) => {
    const body = bodies[i]
    return body ? { start, end: body.start } : { start }
  })
}

/** Something found, or else a reason to scan again, or else that it cannot be scanned. */
function worstOf(scans: readonly ScanResult[]): ScanResult {
  const unscanned = scans.filter(scan => scan.kind === 'unscanned')
  return (
    scans.find(scan => scan.kind === 'infected') ??
    unscanned.find(scan => !scan.isPermanent) ??
    unscanned[0] ?? { kind: 'clean' }
  )
}
