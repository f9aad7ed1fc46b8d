import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type TLSSocket, connect as wrap } from 'node:tls'

/** An SMTP client on a raw socket, which can send anything, valid or not, and returns the replies. */
export class SmtpClient {
  private socket: Socket | TLSSocket
  private received = ''
  private isOver = false
  private wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.socket = socket
    this.listen()
  }

  /** Connects, from `localAddress` if it is given, and does not wait for the greeting. */
  static async connect(port: number, localAddress?: string): Promise<SmtpClient> {
    const socket = connect({ port, host: '127.0.0.1', ...(localAddress ? { localAddress } : {}) })
    socket.setNoDelay()
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new SmtpClient(socket)
  }

  /**
   * Connects, and does a TLS handshake whose first bytes, that many of the ClientHello (all of them: Infinity), leave in one
   * packet with what is sent before it.
   */
  static async connectTls(port: number, before: Buffer, bytes: number): Promise<SmtpClient> {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.setNoDelay()
    const client = new SmtpClient(wrap({ socket: withFirstPacket(socket, before, bytes), rejectUnauthorized: false }))
    await new Promise<void>((resolve, reject) => {
      client.socket.once('secureConnect', resolve)
      client.socket.once('error', reject)
      client.socket.once('close', () => reject(new Error('the connection ended in the handshake')))
    })
    return client
  }

  /** Connects, and reads the greeting and the reply to EHLO. */
  static async ready(port: number, localAddress?: string): Promise<SmtpClient> {
    const client = await SmtpClient.connect(port, localAddress)
    await client.reply()
    await client.command('EHLO client.test')
    return client
  }

  private listen(): void {
    this.socket.on('data', chunk => {
      this.received += chunk.toString('utf8')
      this.wake()
    })
    const end = () => {
      this.isOver = true
      this.wake()
    }
    this.socket.on('error', end)
    this.socket.on('close', end)
    this.socket.on('end', end)
  }

  /** Sends raw bytes; text as UTF-8. */
  send(data: string | Buffer): void {
    this.socket.write(data)
  }

  /** Sends bytes in pieces, each in its own packet if possible. */
  async sendInPieces(pieces: readonly Buffer[], pauseMs = 2): Promise<void> {
    for (const piece of pieces) {
      this.socket.write(piece)
      await Bun.sleep(pauseMs)
    }
  }

  /** The next whole reply, its lines joined by LF. @throws when the connection ends first, or after `timeoutMs`. */
  async reply(timeoutMs = 5000): Promise<string> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const match = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.received)
      if (match) {
        this.received = this.received.slice(match[0].length)
        return match[0].replaceAll('\r\n', '\n').trimEnd()
      }
      if (this.isOver) throw new Error(`the connection ended after "${this.received}"`)
      await this.waitForInput(deadline, 'no reply')
    }
  }

  /** Sends a command and returns its reply. */
  command(line: string): Promise<string> {
    this.send(`${line}\r\n`)
    return this.reply()
  }

  /** Sends commands one after the other, each after the reply to the one before, and returns the replies. */
  async commands(...lines: readonly string[]): Promise<readonly string[]> {
    const replies: string[] = []
    for (const line of lines) replies.push(await this.command(line))
    return replies
  }

  /** Everything that the server sends until it closes the connection. */
  async rest(timeoutMs = 5000): Promise<string> {
    const deadline = performance.now() + timeoutMs
    while (!this.isOver) await this.waitForInput(deadline, 'still open')
    const rest = this.received
    this.received = ''
    return rest
  }

  private async waitForInput(deadline: number, what: string): Promise<void> {
    const left = deadline - performance.now()
    if (left <= 0) throw new Error(`${what}; received "${this.received}"`)
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, left)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** The TLS handshake that follows the 220 to STARTTLS. */
  async upgrade(): Promise<TLSSocket> {
    this.socket.removeAllListeners('data')
    const secure = wrap({ socket: this.socket, rejectUnauthorized: false })
    await new Promise<void>((resolve, reject) => {
      secure.once('secureConnect', resolve)
      secure.once('error', reject)
    })
    this.socket = secure
    this.received = ''
    this.listen()
    return secure
  }

  /** Closes the connection without QUIT. */
  hangUp(): void {
    this.socket.destroy()
  }
}

/** The socket, with `before` in one packet with the first `bytes` of what is written to it. */
function withFirstPacket(socket: Socket, before: Buffer, bytes: number): Duplex {
  let isFirst = true
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      if (!isFirst) {
        socket.write(chunk, done)
        return
      }
      isFirst = false
      socket.write(Buffer.concat([before, chunk.subarray(0, bytes)]))
      if (bytes >= chunk.length) done()
      else setTimeout(() => socket.write(chunk.subarray(bytes), done), 20)
    },
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', chunk => stream.push(chunk))
  socket.on('end', () => stream.push(null))
  socket.on('error', error => stream.destroy(error))
  socket.on('close', () => stream.destroy())
  return stream
}
