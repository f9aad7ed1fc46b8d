/** How much of an unwanted body is read on, in bytes: more than twice what may be sent. */
const maxBytes = 36 * 1024 * 1024
/** How long it may take as a whole, and how long nothing may come, in milliseconds. */
const longestMs = 10_000
const silentMs = 500

/**
 * Before a connection is closed, reads on and drops what the client still writes, so that it gets to read the response: a
 * connection that is closed with bytes unread is reset, and the response is lost with it (RFC 9112 §9.6). On a connection
 * that stays open Bun reads on by itself.
 */
export async function discardBody(request: Request): Promise<void> {
  if (!request.body || request.body.locked) return
  const reader = request.body.getReader()
  if (!isLastOfConnection(request)) return void reader.cancel().catch(() => undefined)
  const endsAt = performance.now() + longestMs
  try {
    for (let read = 0; read < maxBytes; ) {
      const piece = await Promise.race([reader.read(), silence(Math.min(silentMs, endsAt - performance.now()))])
      if (piece === null || piece.done) return
      read += piece.value.length
    }
  } catch {
    // The client is gone.
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

function isLastOfConnection({ headers }: Request): boolean {
  return /(^|[,\s])close($|[,\s])/i.test(headers.get('connection') ?? '')
}

async function silence(ms: number): Promise<null> {
  await Bun.sleep(Math.max(ms, 0))
  return null
}
