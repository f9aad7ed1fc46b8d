import { Readable } from 'node:stream'
import NodeClam from 'clamscan'
import type { ClamdAddress } from '../../base/config/config.ts'
import { ClamdSocket } from './clamd-socket.ts'
import type { ScanResult } from './port.ts'
import { closed, foundResultOf, unscanned } from './scan-reply.ts'

/** clamscan, set up for one clamd. */
export class ClamscanClient {
  private readonly address: ClamdAddress
  private readonly client: Promise<NodeClam>

  constructor(address: ClamdAddress, timeoutMs: number) {
    this.address = address
    this.client = openClient(address, timeoutMs)
  }

  /** Scans what `source` gives, read no faster than clamd takes it. @throws when the source fails, or at `signal` */
  async scan(source: Readable, signal: AbortSignal): Promise<ScanResult> {
    const connection = connectionOf(await this.client, this.address)
    try {
      return await orAborted(signal, scanChunks(connection, source, signal))
    } finally {
      connection.close()
    }
  }

  /** Does clamd answer PING before `signal`? */
  async ping(signal: AbortSignal): Promise<boolean> {
    const connection = connectionOf(await this.client, this.address)
    try {
      await orAborted(signal, connection.clam.ping())
      return true
    } catch {
      return false
    } finally {
      connection.close()
    }
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
  if (isInfected !== true) return unscanned(resultString?.trim() || closed)
  return foundResultOf(viruses)
}

function orAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('clamd did not answer in time'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
