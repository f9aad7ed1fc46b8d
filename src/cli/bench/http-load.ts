import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'

/** What is posted again and again. */
export interface PostRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Each post carries an Idempotency-Key of its own. */
  readonly idempotent: boolean
  readonly status: number
}

/** Posts `count` bodies over `connections` kept-alive connections and gives the seconds; each answer must have `status`. */
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
  const lanes = await Promise.all(
    Array.from({ length: connections }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay()
      return new Promise<typeof socket>((done, fail) => socket.once('connect', () => done(socket)).once('error', fail))
    }),
  )
  let taken = 0
  const started = performance.now()
  await Promise.all(
    lanes.map(async socket => {
      for (let i = taken++; i < count; i = taken++) {
        const content = body(i)
        const answered = nextResponse(socket)
        const key = request.idempotent ? `Idempotency-Key: ${randomUUID()}\r\n` : ''
        socket.write(
          `POST ${request.path} HTTP/1.1\r\nHost: localhost\r\n${headers}${key}Content-Type: application/json\r\n` +
            `Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`,
        )
        const answer = await answered
        if (!answer.startsWith(`HTTP/1.1 ${request.status}`))
          throw new Error(`expected ${request.status}, got ${answer}`)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  for (const socket of lanes) socket.destroy()
  return seconds
}

/** The whole next answer, by its Content-Length. */
function nextResponse(socket: ReturnType<typeof connect>): Promise<string> {
  return new Promise((done, fail) => {
    let answer = ''
    const take = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      const head = answer.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head))
      if (answer.length < head + 4 + Number(length?.[1] ?? 0)) return
      socket.off('data', take).off('error', fail)
      done(answer)
    }
    socket.on('data', take).once('error', fail)
  })
}
