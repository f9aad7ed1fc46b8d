import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import NodeClam from 'clamscan'
import { newSemaphore } from '../../base/concurrency/semaphore.ts'
import type { ClamdAddress } from '../../base/config/config.ts'
import { ClamdSocket } from './clamd-socket.ts'
import type { ScanInput, Scanner, ScanResult } from './port.ts'

export interface ClamdOptions {
  readonly address: ClamdAddress
  /** How long one scan may take, with the wait for a free one; should be longer than clamd takes to reload. */
  readonly timeoutMs: number
  /** Should be fewer than clamd's MaxThreads. */
  readonly maxConcurrentScans: number
}

const fileChunkBytes = 256 * 1024
const maxPingMs = 5000

/** A {@link Scanner} on clamd (INSTREAM) through clamscan. The content is streamed through the socket. */
export function clamdScanner({ address, timeoutMs, maxConcurrentScans }: ClamdOptions): Scanner {
  const client = openClient(address, timeoutMs)
  const acquire = newSemaphore(maxConcurrentScans)

  async function scanInTurn(what: ScanInput, signal: AbortSignal): Promise<ScanResult> {
    const release = await acquire(signal)
    if (!release) return unscanned('too many scans at once: none was free in time')
    const connection = connectionOf(await client, address)
    try {
      return await orAborted(signal, scanOver(connection, what, signal))
    } finally {
      connection.close()
      release()
    }
  }

  return {
    async scan(what) {
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), timeoutMs)
      try {
        return await scanInTurn(what, deadline.signal)
      } catch (error) {
        return unscanned(reasonOf(error))
      } finally {
        clearTimeout(timer)
        if (what.kind === 'stream') what.stream.destroy()
      }
    },

    async isReady() {
      const connection = connectionOf(await client, address)
      const deadline = AbortSignal.timeout(Math.min(timeoutMs, maxPingMs))
      try {
        await orAborted(deadline, connection.clam.ping())
        return true
      } catch {
        return false
      } finally {
        connection.close()
      }
    },
  }
}

/** Only configures the library: it neither runs a program nor connects to clamd yet. */
function openClient(address: ClamdAddress, timeoutMs: number): Promise<NodeClam> {
  const at = address.kind === 'unix' ? { socket: address.path } : { host: address.host, port: address.port }
  return new NodeClam().init({
    clamdscan: { ...at, timeout: timeoutMs, localFallback: false, bypassTest: true, path: '' },
    clamscan: { active: false, path: '' },
  })
}

/** One use of the library, with access to the socket that it opens. */
interface ClamdConnection {
  readonly clam: NodeClam
  /** Resolves when clamd has taken what was written so far. */
  sent(): Promise<void>
  close(): void
}

/**
 * Workaround for clamscan 2.4: it hides its socket, writes without waiting for it to drain, and leaves it open after a
 * timeout. So each use gets its own object, derived from the shared one, whose `_initSocket` opens a socket of ours.
 */
function connectionOf(shared: NodeClam, address: ClamdAddress): ClamdConnection {
  const socket = new ClamdSocket()
  const clam = Object.create(shared, {
    _initSocket: {
      value: async () => {
        await socket.connect(address)
        return socket
      },
    },
  }) as NodeClam
  return { clam, sent: () => socket.sent(), close: () => socket.destroy() }
}

async function scanOver(connection: ClamdConnection, what: ScanInput, signal: AbortSignal): Promise<ScanResult> {
  switch (what.kind) {
    case 'memory':
      return scanSource(connection, readableOf(what.bytes), what.bytes.length === 0, signal)
    case 'file':
      return scanChunks(connection, createReadStream(what.path, { highWaterMark: fileChunkBytes }), signal)
    case 'stream':
      return scanChunks(connection, what.stream, signal)
    default:
      return what satisfies never
  }
}

async function scanChunks(connection: ClamdConnection, stream: Readable, signal: AbortSignal): Promise<ScanResult> {
  const chunks: AsyncIterator<Buffer> = stream.iterator()
  // clamscan waits forever for a clamd that hangs, so `finally` might never run.
  signal.addEventListener('abort', () => stream.destroy(), { once: true })
  try {
    const first = await chunks.next()
    const throttled = first.done ? [] : chunksOnDrain(connection, first.value, chunks)
    return await scanSource(connection, Readable.from(throttled, { objectMode: false }), first.done === true, signal)
  } finally {
    stream.destroy()
  }
}

async function scanSource(
  connection: ClamdConnection,
  source: Readable,
  isEmpty: boolean,
  signal: AbortSignal,
): Promise<ScanResult> {
  // For an empty stream clamscan does not even send the command.
  if (isEmpty) return { kind: 'clean' }
  signal.addEventListener('abort', () => source.destroy(), { once: true })
  return scanFrom(await connection.clam.scanStream(source))
}

function readableOf(bytes: Buffer): Readable {
  return new Readable({
    read() {
      this.push(bytes)
      this.push(null)
    },
  })
}

/** Reads the next chunk only when clamd has taken the last: clamscan ignores backpressure. */
async function* chunksOnDrain(
  connection: ClamdConnection,
  first: Buffer,
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  yield first
  for (;;) {
    await connection.sent()
    const next = await rest.next()
    if (next.done) return
    yield next.value
  }
}

interface ScanReply {
  readonly isInfected: boolean | null
  readonly viruses: readonly string[]
  readonly resultString?: string
}

/**
 * Workaround for clamscan 2.4: `isInfected` is null after a timeout, for an empty reply and for COMMAND READ TIMED OUT, so only
 * `false` is clean. https://github.com/kylefarris/clamscan/issues/69
 */
function scanFrom({ isInfected, viruses, resultString }: ScanReply): ScanResult {
  if (isInfected === false) return { kind: 'clean' }
  if (isInfected !== true) return unscanned(resultString?.trim() || 'clamd closed the connection')
  const signature = viruses.find(name => !name.startsWith('Heuristics.Limits.Exceeded'))
  if (signature !== undefined) return { kind: 'infected', signature }
  const [limit] = viruses
  return limit === undefined
    ? unscanned('clamd found something without a name')
    : { kind: 'unscanned', why: limit, isPermanent: true }
}

function unscanned(why: string): ScanResult {
  return { kind: 'unscanned', why }
}

function orAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('clamd did not answer in time'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  return (error.message || (typeof code === 'string' ? code : 'unknown error')).trim()
}
