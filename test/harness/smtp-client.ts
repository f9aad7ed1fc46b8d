import { connect, type Socket } from 'node:net'
import { type TLSSocket, connect as wrap } from 'node:tls'

/** A scripted SMTP client on a raw socket: it sends what it is told, however wrong, and gives back what it hears. */
export class SmtpClient {
  private socket: Socket | TLSSocket
  private received = ''
  private isOver = false
  private wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.socket = socket
    this.listen()
  }

  /** Connects, from `localAddress` where it is given. Does not wait for the greeting. */
  static async connect(port: number, localAddress?: string): Promise<SmtpClient> {
    const socket = connect({ port, host: '127.0.0.1', ...(localAddress ? { localAddress } : {}) })
    socket.setNoDelay()
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new SmtpClient(socket)
  }

  /** Connected, greeted, and with the answer to EHLO heard. */
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

  /** Sends bytes as they are; text as UTF-8. */
  send(what: string | Buffer): void {
    this.socket.write(what)
  }

  /** Sends bytes in pieces, each in a packet of its own as far as that can be had. */
  async sendInPieces(pieces: readonly Buffer[], pauseMs = 2): Promise<void> {
    for (const piece of pieces) {
      this.socket.write(piece)
      await Bun.sleep(pauseMs)
    }
  }

  /** The next whole reply, its lines joined by LF. @throws when the connection ends first, or after `timeoutMs`. */
  async reply(timeoutMs = 5000): Promise<string> {
    const until = performance.now() + timeoutMs
    for (;;) {
      const match = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.received)
      if (match) {
        this.received = this.received.slice(match[0].length)
        return match[0].replaceAll('\r\n', '\n').trimEnd()
      }
      if (this.isOver) throw new Error(`the connection ended; heard "${this.received}"`)
      await this.waitForInput(until, 'no reply')
    }
  }

  /** Sends a line and gives the reply to it. */
  command(line: string): Promise<string> {
    this.send(`${line}\r\n`)
    return this.reply()
  }

  /** The replies to all of these lines, asked one after the other. */
  async commands(...lines: readonly string[]): Promise<readonly string[]> {
    const replies: string[] = []
    for (const line of lines) replies.push(await this.command(line))
    return replies
  }

  /** What is heard until the server closes; '' when it has nothing more to say. */
  async rest(timeoutMs = 5000): Promise<string> {
    const until = performance.now() + timeoutMs
    while (!this.isOver) await this.waitForInput(until, 'still open')
    const rest = this.received
    this.received = ''
    return rest
  }

  private async waitForInput(until: number, what: string): Promise<void> {
    const left = until - performance.now()
    if (left <= 0) throw new Error(`${what}; heard "${this.received}"`)
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

  /** Ends without a word. */
  hangUp(): void {
    this.socket.destroy()
  }
}
