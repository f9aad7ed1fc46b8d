import { createReadStream } from 'node:fs'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import NodeClam from 'clamscan'
import { newSemaphore } from '../../base/concurrency/semaphore.ts'
import type { ClamdAddress } from '../../base/config/config.ts'
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
    const connection = connectionOf(await client)
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
      const connection = connectionOf(await client)
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
  /** Resolves when the socket's buffer has drained. */
  drained(): Promise<void>
  /** From now on buffers all writes until the end of the stream, and sends them as one. */
  gather(): void
  close(): void
}

type OpensSockets = { _initSocket(label: string): Promise<Socket> }

/**
 * Workaround for clamscan 2.4: it hides its socket, writes without waiting for it to drain, and leaves it open after a
 * timeout. So each use gets its own object, derived from the shared one, whose `_initSocket` keeps the socket.
 */
function connectionOf(shared: NodeClam): ClamdConnection {
  let socket: Socket | undefined
  let isClosed = false
  let isGathering = false
  const clam = Object.create(shared, {
    _initSocket: {
      value: async (label: string) => {
        socket = await (shared as unknown as OpensSockets)._initSocket(label)
        if (isClosed) socket.destroy()
        if (isGathering) gatherWrites(socket)
        return socket
      },
    },
  }) as NodeClam
  return {
    clam,
    drained: async () => {
      if (socket?.writableNeedDrain) await drainOrClose(socket)
    },
    gather: () => {
      isGathering = true
    },
    close: () => {
      isClosed = true
      socket?.destroy()
    },
  }
}

const endOfStream = Buffer.alloc(4)

/**
 * Workaround for clamscan 2.4: it writes the command, each length, each chunk and the end of the stream separately. clamd has
 * one reading thread, which goes through all connections for each packet: that takes longer than scanning a small message.
 */
function gatherWrites(socket: Socket): void {
  const pieces: Buffer[] = []
  const write = socket.write.bind(socket)
  socket.write = ((piece: Buffer | string) => {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    pieces.push(bytes)
    if (bytes.length < 4 || !bytes.subarray(-4).equals(endOfStream)) return true
    return write(Buffer.concat(pieces.splice(0)))
  }) as Socket['write']
}

function drainOrClose(socket: Socket): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}

async function scanOver(connection: ClamdConnection, what: ScanInput, signal: AbortSignal): Promise<ScanResult> {
  switch (what.kind) {
    case 'memory':
      connection.gather()
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

/** Reads the next chunk only when the socket has drained: clamscan ignores backpressure. */
async function* chunksOnDrain(
  connection: ClamdConnection,
  first: Buffer,
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  yield first
  for (;;) {
    await connection.drained()
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
