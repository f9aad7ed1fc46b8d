import { Readable } from 'node:stream'
import { type MessageSummary, readMessageSummary } from '../../mail/message.ts'
import type { ParseLimits } from '../../mail/mime-parser.ts'
import { type TextTaskName, textTasks } from './worker-tasks.ts'

// What runs on the thread that text-worker.ts starts: one task after the other.

export type TextTask =
  | { readonly kind: 'text'; readonly name: TextTaskName; readonly given: readonly string[] }
  /** A message to be taken apart, whose bytes come piece by piece, each when it is asked for. */
  | { readonly kind: 'outline'; readonly limits: ParseLimits }

/** What is said belongs to the task of this number. */
export type ToThread = { readonly id: number } & (
  | TextTask
  | { readonly kind: 'piece'; readonly bytes: Uint8Array | null }
)

export type FromThread = { readonly id: number } & (
  | { readonly kind: 'done'; readonly result: string | null | MessageSummary }
  | { readonly kind: 'next-piece' }
)

declare const self: {
  postMessage(message: FromThread): void
  onmessage: ((event: { readonly data: ToThread }) => void) | null
}

let waiting: { readonly id: number; readonly take: (bytes: Uint8Array | null) => void } | undefined

async function* piecesOf(id: number): AsyncGenerator<Buffer> {
  for (;;) {
    const piece = new Promise<Uint8Array | null>(take => {
      waiting = { id, take }
    })
    self.postMessage({ id, kind: 'next-piece' })
    const bytes = await piece
    if (!bytes) return
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}

self.onmessage = async ({ data }) => {
  const { id } = data
  switch (data.kind) {
    case 'text': {
      const work = textTasks[data.name] as (...given: readonly string[]) => string | null
      return self.postMessage({ id, kind: 'done', result: work(...data.given) })
    }
    case 'outline': {
      const result = await readMessageSummary(Readable.from(piecesOf(id), { objectMode: false }), data.limits)
      return self.postMessage({ id, kind: 'done', result })
    }
    case 'piece':
      // A message that was not wanted to its end may have asked for one more.
      if (waiting?.id === id) waiting.take(data.bytes)
      return
    default:
      data satisfies never
  }
}
