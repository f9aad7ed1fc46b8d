import type { Socket, SocketHandler } from 'bun'
import type { ClamdAddress } from '../../base/config/config.ts'

const begin = Buffer.from('zIDSESSION\0')
const command = Buffer.from('zINSTREAM\0')
const lengthBytes = 4
const maxReplyBytes = 64 * 1024
/** What a short message is framed in, kept so that it leaves the garbage collector nothing. */
const frameBuffer = Buffer.allocUnsafeSlow(128 * 1024)

/** clamd closed the connection, or it broke. It closes those that were idle for its ReadTimeout, and all when it ends. */
export class SessionLostError extends Error {}

/**
 * A connection to clamd for one INSTREAM after the other (IDSESSION; clamd(8)), of content in memory: written at once, past the
 * streams of clamscan. A new connection for each small message costs both sides a tenth of what its scan costs them.
 */
export class ClamdSession {
  private readonly address: ClamdAddress
  private readonly onClosed: () => void
  private socket: Socket | undefined
  /** Of the command that waits for its reply. */
  private reply: PromiseWithResolvers<string> | undefined
  private commands = 0
  /** Framed, and not yet written. */
  private unsent: Buffer | undefined
  private received = ''
  private isOver = false

  /** @param onClosed called once, when the connection is closed, by either side */
  constructor(address: ClamdAddress, onClosed: () => void) {
    this.address = address
    this.onClosed = onClosed
  }

  /** How many scans were begun. */
  get scans(): number {
    return this.commands
  }

  get isOpen(): boolean {
    return !this.isOver
  }

  /**
   * Gives what clamd replied to this content, without the number of the command. One at a time.
   * @throws SessionLostError when it closed the connection without a reply; else when there is none that counts
   */
  scan(content: Buffer): Promise<string> {
    const reply = Promise.withResolvers<string>()
    this.reply = reply
    this.commands++
    if (this.socket) this.send(content)
    else this.connect(() => this.send(content))
    return reply.promise
  }

  /** Closes the connection; a scan in progress fails with `error`. */
  close(error: Error = new Error('the session has ended')): void {
    if (this.isOver) return
    this.isOver = true
    this.unsent = undefined
    this.socket?.terminate()
    this.reply?.reject(error)
    this.onClosed()
  }

  private connect(onOpen: () => void): void {
    const { address } = this
    const handlers: SocketHandler<undefined> = {
      open: socket => {
        this.socket = socket
        // Whoever waits for a scan has a time limit, and an idle session keeps no process alive.
        socket.unref()
        if (this.isOver) socket.terminate()
        else onOpen()
      },
      data: (_, bytes) => this.read(bytes),
      drain: () => this.flush(),
      end: () => this.lost(),
      error: (_, error) => this.close(new SessionLostError(error.message, { cause: error })),
      close: () => this.lost(),
    }
    const connecting =
      address.kind === 'unix'
        ? Bun.connect({ unix: address.path, socket: handlers })
        : Bun.connect({ hostname: address.host, port: address.port, socket: handlers })
    connecting.catch((error: Error) => this.close(error))
  }

  private send(content: Buffer): void {
    const first = this.commands === 1 ? begin.length : 0
    const contentAt = first + command.length + lengthBytes
    const length = contentAt + content.length + lengthBytes
    const isShort = length <= frameBuffer.length
    const framed = isShort ? frameBuffer.subarray(0, length) : Buffer.allocUnsafe(length)
    if (first > 0) begin.copy(framed)
    command.copy(framed, first)
    framed.writeUInt32BE(content.length, contentAt - lengthBytes)
    content.copy(framed, contentAt)
    // A chunk of no bytes ends the content.
    framed.writeUInt32BE(0, length - lengthBytes)
    this.write(framed, isShort)
  }

  private write(bytes: Buffer, isReused: boolean): void {
    const sent = Math.max(this.socket?.write(bytes) ?? 0, 0)
    const rest = bytes.subarray(sent)
    if (rest.length > 0) this.unsent = isReused ? Buffer.from(rest) : rest
  }

  private flush(): void {
    const { unsent } = this
    if (this.isOver || !unsent) return
    this.unsent = undefined
    this.write(unsent, false)
  }

  private read(bytes: Buffer): void {
    if (this.isOver) return
    this.received += bytes.toString()
    const isWhole = this.received.includes('\0')
    // An idle session was asked nothing: what comes is a last word, such as COMMAND READ TIMED OUT.
    if (!this.reply || isWhole || this.received.length > maxReplyBytes) this.conclude()
  }

  private conclude(): void {
    const { reply, unsent, received } = this
    const number = `${this.commands}: `
    const isSingle = received.indexOf('\0') === received.length - 1
    if (!reply || unsent || !isSingle || !received.startsWith(number)) this.lost()
    else {
      this.reply = undefined
      this.received = ''
      reply.resolve(received.slice(number.length, -1).trim())
    }
  }

  /** Nothing that has come, or comes, is the reply to all of the content. */
  private lost(): void {
    const text = this.received.replaceAll('\0', ' ').trim()
    this.close(
      text === ''
        ? new SessionLostError('clamd closed the connection')
        : new Error(`clamd replied to something else than the message: ${text}`),
    )
  }
}
