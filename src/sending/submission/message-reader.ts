import { openWorkerPool, WorkerError } from '../../base/concurrency/worker-pool.ts'
import { refuse } from '../../base/refusal.ts'
import { type MessageReading, readMessage } from './read-message.ts'
import type { MessageTasks } from './worker.ts'

/** Reads submitted messages: a large one in a worker thread, away from the event loop. */
export interface MessageReader {
  /** @throws Refusal `unavailable` when the message takes too long */
  read(message: Buffer): Promise<MessageReading>
  /** Ends the worker. */
  close(): void
}

const maxBytesOnThisThread = 256 * 1024
const taskTimeoutMs = 60_000
const idleMs = 2000

/** The worker starts with the first large message. */
export function openMessageReader(): MessageReader {
  const entry = new URL('./worker.ts', import.meta.url)
  const pool = openWorkerPool<MessageTasks>({ entry, taskTimeoutMs, idleMs })
  return {
    async read(message) {
      if (message.length <= maxBytesOnThisThread) return await readMessage(message)
      try {
        return withBuffer(await pool.run('read', message))
      } catch (error) {
        if (error instanceof WorkerError)
          throw refuse('unavailable', {
            message: 'The message is large and could not be read in time; try again later.',
            cause: error,
          })
        throw error
      }
    },
    close: () => pool.close(),
  }
}

/** A Buffer comes back from a worker as a plain Uint8Array. */
function withBuffer(reading: MessageReading): MessageReading {
  if (reading.kind !== 'message') return reading
  const { buffer, byteOffset, byteLength } = reading.bytes
  return { ...reading, bytes: Buffer.from(buffer, byteOffset, byteLength) }
}
