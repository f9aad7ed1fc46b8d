import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'

/** The request that is repeated. */
export interface PostRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Does each request have an Idempotency-Key of its own? */
  readonly idempotent: boolean
  readonly status: number
}

/** Posts `count` bodies over `connections` kept-alive connections and gives the seconds. Each response must have `status`. */
export async function postOverHttp(
  port: number,
  connections: number,
  count: number,
  request: PostRequest,
  body: (i: number) => string,
): Promise<number> {
  const headers = Object.entries(request.headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay()
      return new Promise<typeof socket>((done, fail) => socket.once('connect', () => done(socket)).once('error', fail))
    }),
  )
  let next = 0
  const started = performance.now()
  await Promise.all(
    sockets.map(async socket => {
      for (let i = next++; i < count; i = next++) {
        const content = body(i)
        const responded = nextResponse(socket)
        const key = request.idempotent ? `Idempotency-Key: ${randomUUID()}\r\n` : ''
        socket.write(
          `POST ${request.path} HTTP/1.1\r\nHost: localhost\r\n${headers}${key}Content-Type: application/json\r\n` +
            `Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`,
        )
        const response = await responded
        if (!response.startsWith(`HTTP/1.1 ${request.status}`))
          throw new Error(`expected ${request.status}, got ${response}`)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  for (const socket of sockets) socket.destroy()
  return seconds
}

/** The whole next response, by its Content-Length. */
function nextResponse(socket: ReturnType<typeof connect>): Promise<string> {
  return new Promise((done, fail) => {
    let response = ''
    const onData = (chunk: Buffer) => {
      response += chunk.toString('latin1')
      const head = response.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = /\r\ncontent-length: (\d+)/i.exec(response.slice(0, head))
      if (response.length < head + 4 + Number(length?.[1] ?? 0)) return
      socket.off('data', onData).off('error', fail)
      done(response)
    }
    socket.on('data', onData).once('error', fail)
  })
}
