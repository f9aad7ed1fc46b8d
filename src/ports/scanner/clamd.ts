import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { newSemaphore } from '../../base/concurrency/semaphore.ts'
import type { ClamdAddress } from '../../base/config/config.ts'
import { sendClamdCommand } from './clamd-commands.ts'
import { ClamdStream } from './clamd-stream.ts'
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

/** A {@link Scanner} on clamd (INSTREAM). The content is streamed through the socket. */
export function clamdScanner({ address, timeoutMs, maxConcurrentScans }: ClamdOptions): Scanner {
  const acquire = newSemaphore(maxConcurrentScans)

  async function scanInTurn(what: ScanInput, signal: AbortSignal): Promise<ScanResult> {
    const release = await acquire(signal)
    if (!release) return unscanned('too many scans at once: none was free in time')
    const stream = new ClamdStream()
    const giveUp = () => stream.fail(new Error('clamd did not answer in time'))
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      const reply = await scanOver(stream, address, what)
      return reply === null ? { kind: 'clean' } : resultOf(reply)
    } finally {
      stream.close()
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
      const reply = await sendClamdCommand(address, 'PING', Math.min(timeoutMs, maxPingMs)).catch(() => null)
      return reply === 'PONG'
    },
  }
}

/** What clamd replies; null: there is nothing to scan. */
async function scanOver(stream: ClamdStream, address: ClamdAddress, what: ScanInput): Promise<string | null> {
  switch (what.kind) {
    case 'memory':
      return what.bytes.length === 0 ? null : await stream.sendAll(address, what.bytes)
    case 'file':
      return await scanChunks(stream, address, createReadStream(what.path, { highWaterMark: fileChunkBytes }))
    case 'stream':
      return await scanChunks(stream, address, what.stream)
    default:
      return what satisfies never
  }
}

async function scanChunks(stream: ClamdStream, address: ClamdAddress, source: Readable): Promise<string | null> {
  const chunks: AsyncIterator<Buffer> = source.iterator()
  // Once the exchange is over, for whatever reason, nobody reads on.
  const stop = () => void source.destroy()
  stream.reply.then(stop, stop)
  const first = await chunks.next()
  return first.done ? null : await stream.sendChunks(address, first.value, chunks)
}

/** Only `OK` by itself is clean: every error, doubt or silence is not. */
function resultOf(reply: string): ScanResult {
  if (/^[^:]+: OK$/.test(reply)) return { kind: 'clean' }
  const signature = /: (.+) FOUND$/.exec(reply)?.[1]
  if (signature === undefined) return unscanned(reply || 'clamd closed the connection')
  return signature.startsWith('Heuristics.Limits.Exceeded')
    ? { kind: 'unscanned', why: signature, isPermanent: true }
    : { kind: 'infected', signature }
}

function unscanned(why: string): ScanResult {
  return { kind: 'unscanned', why }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  return (error.message || (typeof code === 'string' ? code : 'unknown error')).trim()
}
