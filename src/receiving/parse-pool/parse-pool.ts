import { openWorkerPool, WorkerError } from '../../base/concurrency/worker-pool.ts'
import type { Authenticator } from '../../ports/authenticator/port.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { type FilingSummary, isLarge, parseForFiling, parseHeaderForFiling, type UnparsedMessage } from '../parse.ts'
import type { DnsQuestion, ParseTasks } from './worker.ts'

/** Worker threads that authenticate and parse large messages, away from the event loop. */
export interface ParsePool {
  readonly authenticator: Authenticator
  /**
   * What filing needs of a message. One whose worker dies or takes too long is described by its header alone.
   * @throws WorkerError when the pool is closed or its queue is full; what reading the file throws
   */
  parse(message: UnparsedMessage): Promise<FilingSummary>
  close(): void
}

export interface ParsePoolOptions {
  readonly resolver: Resolver
  readonly hostname: string
  /** How long all DNS lookups for one message may take, in milliseconds. */
  readonly messageTimeoutMs: number
  /** Threads at most. */
  readonly count: number
  /** How long one task may take, in milliseconds; default 100 s. */
  readonly taskTimeoutMs?: number
}

const defaultTaskTimeoutMs = 100_000
/** One waits for DNS while another computes. */
const tasksPerWorker = 2
/**
 * Starting a thread and compiling its code costs as much as a dozen messages, which a pause of some seconds is not worth. It
 * is no longer, so that a process at rest has little memory.
 */
const idleMs = 10_000

export function openParsePool({
  resolver,
  count,
  taskTimeoutMs = defaultTaskTimeoutMs,
  ...options
}: ParsePoolOptions): ParsePool {
  const entry = new URL('./worker.ts', import.meta.url)
  const pool = openWorkerPool<ParseTasks>({ entry, maxWorkers: count, tasksPerWorker, taskTimeoutMs, idleMs })
  const { hostname, messageTimeoutMs } = options
  const lookUp = ({ name, type }: DnsQuestion) => resolver.resolve(name, type)
  return {
    authenticator: {
      authenticate: message => pool.run('authenticate', { message, options: { hostname, messageTimeoutMs } }, lookUp),
    },
    async parse(message) {
      try {
        const summary = await pool.run('parse', message)
        return withBuffers(summary)
      } catch (error) {
        const hasBrokenWorker =
          error instanceof WorkerError && (error.reason === 'crashed' || error.reason === 'timeout')
        if (!hasBrokenWorker) throw error
        return await parseHeaderForFiling(message.content, `it could not be parsed: ${error.message}`)
      }
    },
    close: () => pool.close(),
  }
}

/** A Buffer comes back from a worker as a plain Uint8Array. */
function withBuffers(summary: FilingSummary): FilingSummary {
  return {
    ...summary,
    attachments: summary.attachments.map(attachment => ({ ...attachment, sha256: bufferOf(attachment.sha256) })),
    sha256: summary.sha256 && bufferOf(summary.sha256),
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Authenticates small messages with `inline`, on this thread, and large ones in the pool. */
export function authenticatorBySize(inline: Authenticator, pool: Pick<ParsePool, 'authenticator'>): Authenticator {
  return {
    authenticate: message => (isLarge(message.content) ? pool.authenticator : inline).authenticate(message),
  }
}

/** What filing needs of a message: a small one is parsed on this thread, a large one in the pool, where there is one. */
export function parse(message: UnparsedMessage, pool?: Pick<ParsePool, 'parse'>): Promise<FilingSummary> {
  return pool && isLarge(message.content) ? pool.parse(message) : parseForFiling(message)
}
