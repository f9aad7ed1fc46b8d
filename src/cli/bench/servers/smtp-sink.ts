import type { Socket } from 'bun'

/** The messages that a sink received. */
export interface DrainResult {
  readonly messages: number
  /** From the first final dot to the last. */
  readonly seconds: number
}

interface SinkSession {
  inData: boolean
  tail: string
}

/**
 * An SMTP server on a free port that accepts every message and stores none: the least work that a relay can do. `expect`
 * resolves when so many messages have arrived.
 */
export function openSmtpSink(): { port: number; expect(count: number): Promise<DrainResult>; stop(): void } {
  let messages = 0
  let first = 0
  let last = 0
  let expected = Number.POSITIVE_INFINITY
  let done: (drained: DrainResult) => void = () => undefined

  function messageEnded(): void {
    last = performance.now()
    if (messages++ === 0) first = last
    if (messages >= expected) done({ messages, seconds: (last - first) / 1000 })
  }

  function onData(socket: Socket<SinkSession>, chunk: Buffer): void {
    const session = socket.data
    let rest = session.tail + chunk.toString('latin1')
    let reply = ''
    for (;;) {
      if (session.inData) {
        const end = rest.indexOf('\r\n.\r\n')
        if (end < 0) {
          rest = rest.slice(-4)
          break
        }
        rest = rest.slice(end + 5)
        session.inData = false
        messageEnded()
        reply += '250 2.0.0 accepted\r\n'
      } else {
        const end = rest.indexOf('\r\n')
        if (end < 0) break
        const verb = rest.slice(0, 4).toUpperCase()
        rest = rest.slice(end + 2)
        session.inData = verb === 'DATA'
        if (verb === 'EHLO') reply += '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n'
        else if (verb === 'DATA') reply += '354 go on\r\n'
        else if (verb === 'QUIT') reply += '221 2.0.0 bye\r\n'
        else reply += '250 2.0.0 ok\r\n'
      }
    }
    session.tail = rest
    if (reply) socket.write(reply)
  }

  const server = Bun.listen<SinkSession>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { inData: false, tail: '' }
        socket.write('220 sink\r\n')
      },
      data: onData,
    },
  })
  return {
    port: server.port,
    expect(count) {
      messages = 0
      expected = count
      return new Promise(resolve => {
        done = resolve
      })
    },
    stop: () => server.stop(true),
  }
}
