import { createConnection, type Socket } from 'node:net'

/** A request to rspamd. It speaks HTTP without TLS. */
export interface RspamdRequest {
  /** `http://host:port`. */
  readonly base: string
  /** Such as `/checkv2`. */
  readonly path: string
  /** A name may come several times, as Rcpt does. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: RequestBody | null
  /** Ends it. */
  readonly signal: AbortSignal
}

interface RequestBody {
  readonly size: number
  readonly bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

export interface RspamdReply {
  readonly status: number
  readonly body: string
}

const maxReplyBytes = 1024 * 1024

/**
 * Sends a request on a connection of its own, and resolves to the reply, which may come before all of the body was sent.
 * HTTP/1.0 (RFC 1945), by hand: `fetch` joins fields of the same name, which rspamd does not take apart, and sends a stream
 * without its length.
 * @throws when the connection fails, the reply is malformed or larger than 1 MiB, the body cannot be read, or `signal` fires
 */
export async function askRspamd({ base, path, fields, body, signal }: RspamdRequest): Promise<RspamdReply> {
  const { hostname, port, host } = new URL(base)
  signal.throwIfAborted()
  const socket = createConnection({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) })
  const abort = () => socket.destroy(new Error('it did not answer in time'))
  signal.addEventListener('abort', abort, { once: true })
  try {
    const reply = readReply(socket)
    sendRequest(socket, headOf(path, host, fields, body), body?.bytes ?? []).catch(error => socket.destroy(error))
    return await reply
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}

function headOf(path: string, host: string, fields: RspamdRequest['fields'], body: RequestBody | null): Buffer {
  const lines = [
    `${body ? 'POST' : 'GET'} ${path} HTTP/1.0`,
    `Host: ${host}`,
    ...fields.map(([name, value]) => `${name}: ${value.replace(/\p{Cc}+/gu, ' ')}`),
    ...(body ? [`Content-Length: ${body.size}`] : []),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}

/** Sends it all, or rejects once the connection is closed. */
async function sendRequest(socket: Socket, head: Buffer, body: RequestBody['bytes']): Promise<void> {
  const closed = new Promise<never>((_, reject) => {
    socket.once('close', () => reject(new Error('it closed the connection')))
  })
  const write = (bytes: Uint8Array) =>
    Promise.race([closed, new Promise(resolve => socket.write(bytes, () => resolve(undefined)))])
  // In one packet with the first bytes of the body, which for most messages are all of it.
  let unsent: Buffer | null = head
  for await (const bytes of body) {
    await write(unsent ? Buffer.concat([unsent, bytes]) : bytes)
    unsent = null
  }
  if (unsent) await write(unsent)
}

function readReply(socket: Socket): Promise<RspamdReply> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    let failure: Error | undefined
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      const reply = parseReply(received, false)
      if (reply) resolve(reply)
      else if (received.length > maxReplyBytes) socket.destroy(new Error('its reply is too large'))
    })
    socket.on('error', error => {
      failure = error
    })
    socket.on('close', () => {
      const reply = parseReply(received, failure === undefined)
      if (reply) resolve(reply)
      else reject(failure ?? new Error(received.length === 0 ? 'it closed the connection' : 'its reply is malformed'))
    })
  })
}

/** Undefined: it is no reply of HTTP, or not all of it. One without a length is whole at the end of the connection alone. */
function parseReply(bytes: Buffer, isAtEnd: boolean): RspamdReply | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.subarray(0, end).toString('latin1')
  const status = /^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1]
  if (status === undefined) return undefined
  const length = /^content-length:\s*(\d+)\s*$/im.exec(head)?.[1]
  const body = bytes.subarray(end + 4)
  const isWhole = length === undefined ? isAtEnd : body.length >= Number(length)
  return isWhole ? { status: Number(status), body: body.toString('utf8') } : undefined
}
