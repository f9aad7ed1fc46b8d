import { createReadStream } from 'node:fs'
import { newSemaphore } from '../../base/concurrency/semaphore.ts'
import type { ClamdAddress } from '../../base/config/config.ts'
import { ClamdSessions } from './clamd-sessions.ts'
import { ClamscanClient } from './clamscan.ts'
import type { ScanInput, Scanner, ScanResult } from './port.ts'
import { scanResultOf, unscanned } from './scan-reply.ts'

export interface ClamdOptions {
  readonly address: ClamdAddress
  /** How long one scan may take, with the wait for a free one; should be longer than clamd takes to reload. */
  readonly timeoutMs: number
  /** Should be fewer than clamd's MaxThreads. */
  readonly maxConcurrentScans: number
}

const fileChunkBytes = 256 * 1024
const maxPingMs = 5000

/** A {@link Scanner} on clamd (INSTREAM): files and streams through clamscan, what is in memory over sessions that stay open. */
export function clamdScanner({ address, timeoutMs, maxConcurrentScans }: ClamdOptions): Scanner {
  const clamscan = new ClamscanClient(address, timeoutMs)
  const sessions = new ClamdSessions(address)
  const acquire = newSemaphore(maxConcurrentScans)

  async function scanInTurn(what: ScanInput, signal: AbortSignal): Promise<ScanResult> {
    const release = await acquire(signal)
    if (!release) return unscanned('too many scans at once: none was free in time')
    try {
      switch (what.kind) {
        case 'memory':
          return what.size === 0 ? { kind: 'clean' } : scanResultOf(await sessions.scan(what.bytes, signal))
        case 'file':
          return await clamscan.scan(createReadStream(what.path, { highWaterMark: fileChunkBytes }), signal)
        case 'stream':
          return await clamscan.scan(what.stream, signal)
        default:
          return what satisfies never
      }
    } finally {
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
    isReady: () => clamscan.ping(AbortSignal.timeout(Math.min(timeoutMs, maxPingMs))),
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  return (error.message || (typeof code === 'string' ? code : 'unknown error')).trim()
}
