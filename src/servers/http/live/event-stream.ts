import type { Topic } from './topics.ts'

/** Server-sent events to one page (WHATWG HTML §9.2). */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** Tells the page that these topics changed. `id`: what it sends as Last-Event-ID when it connects again. */
  send(topics: Iterable<Topic>, id: string): void
  /** Keeps the connection, and proxies on its way, from ending it for silence. */
  beat(): void
  close(): void
}

/** The page connects again after so long. */
const retryMs = 2000
/** A page that leaves so many events unread is not reading. */
const maxUnread = 64

const encoder = new TextEncoder()

/** @param onClose called once, whoever closes it */
export function openEventStream(onClose: () => void): EventStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started
        // With an id, so that a page that hears nothing before its connection breaks still says that it was here.
        started.enqueue(encoder.encode(`retry: ${retryMs}\nid: 0\n\n`))
      },
      cancel: () => end(),
    },
    { highWaterMark: maxUnread },
  )

  function end(): void {
    if (!controller) return
    controller = undefined
    onClose()
  }

  function write(text: string): void {
    if (!controller) return
    if ((controller.desiredSize ?? 0) <= 0) close()
    else controller.enqueue(encoder.encode(text))
  }

  function close(): void {
    const open = controller
    end()
    open?.close()
  }

  return {
    body,
    send: (topics, id) => write(`id: ${id}\ndata: ${[...topics].join(',')}\n\n`),
    beat: () => write(':\n\n'),
    close,
  }
}
