import { eventCursor } from './cursor.ts'
import { eventText } from './event-json.ts'
import type { EventsRead } from './read-events.ts'

export interface FeedStreamOptions {
  /** The sequence after which the stream begins. */
  readonly after: number
  /** Ends the stream. */
  readonly signal: AbortSignal
  /** The events after a sequence, waited for at most so long. The stream ends when it rejects. */
  readonly next: (after: number, waitMs: number, signal: AbortSignal) => Promise<EventsRead>
  /** Called once, whoever ends the stream. */
  readonly onClose: () => void
}

/** A reader who hears nothing for so long gets a comment with the cursor, so that the connection lives and the cursor is fresh. */
const beatMs = 20_000
/** Then the reader connects again: so that no stream outlives what may have changed on its way. */
const lifeMs = 10 * 60_000
/** A reader whose connection ends comes back after so long. */
const retryMs = 2000

const encoder = new TextEncoder()

/**
 * Server-sent events (WHATWG HTML §9.2): `id` is the cursor after the event, `data` the event. What comes next is read when the
 * reader has room for it, so that a slow one costs no memory.
 */
export function openFeedStream({ after, signal, next, onClose }: FeedStreamOptions): ReadableStream<Uint8Array> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, lifeMs)
  signal.addEventListener('abort', end, { once: true })
  ending.signal.addEventListener('abort', () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    onClose()
  })
  if (signal.aborted) end()
  let sequence = after

  return new ReadableStream<Uint8Array>({
    start(controller) {
      // With the cursor, so that a reader who hears nothing before the connection breaks goes on from here.
      controller.enqueue(encoder.encode(`retry: ${retryMs}\n${idLine(after)}\n`))
    },
    async pull(controller) {
      const read = ending.signal.aborted ? null : await next(sequence, beatMs, ending.signal).catch(() => null)
      if (read === null || (ending.signal.aborted && read.events.length === 0)) {
        end()
        controller.close()
        return
      }
      sequence = read.through
      const messages = read.events.map(event => `${idLine(event.sequence)}data: ${eventText(event)}\n\n`)
      controller.enqueue(encoder.encode(messages.length > 0 ? messages.join('') : `:\n${idLine(sequence)}\n`))
    },
    cancel: end,
  })
}

function idLine(sequence: number): string {
  return `id: ${eventCursor(sequence)}\n`
}
