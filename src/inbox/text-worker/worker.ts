import { Readable } from 'node:stream'
import { serveTasks } from '../../base/concurrency/worker-tasks.ts'
import { type MessageSummary, readMessageSummary } from '../../mail/message.ts'
import type { ParseLimits } from '../../mail/mime-parser.ts'
import { type TextTaskName, textTasks } from './text-tasks.ts'

// What the thread of text-worker.ts does, one task after the other.

export interface TextTask {
  readonly name: TextTaskName
  readonly texts: readonly string[]
}

/** The next bytes of the message; null: there are no more. */
type NextChunk = (nothing: null) => Promise<Uint8Array | null>

const tasks = {
  text({ name, texts }: TextTask): string | Uint8Array | null {
    const task = textTasks[name] as (...texts: readonly string[]) => string | Uint8Array | null
    return task(...texts)
  },
  summary(limits: ParseLimits, nextChunk: NextChunk): Promise<MessageSummary> {
    return readMessageSummary(Readable.from(chunksOf(nextChunk), { objectMode: false }), limits)
  },
}

export type TextWorkerTasks = typeof tasks

async function* chunksOf(nextChunk: NextChunk): AsyncGenerator<Buffer> {
  for (;;) {
    const bytes = await nextChunk(null)
    if (!bytes) return
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}

serveTasks(tasks)
