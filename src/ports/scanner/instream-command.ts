import type { Socket, SocketHandler } from 'bun'
import type { ClamdAddress } from '../../base/config/config.ts'

const command = Buffer.from('zINSTREAM\0')
const lengthBytes = 4
/** A chunk of no bytes ends the content. */
const end = Buffer.alloc(lengthBytes)
const maxReplyBytes = 64 * 1024
/** What a short message is framed in, kept so that it leaves the garbage collector nothing. */
const frameBuffer = Buffer.allocUnsafeSlow(128 * 1024)

/**
 * One INSTREAM command (clamd(8)) for content in memory, over a connection of its own: written at once, past the streams of
 * clamscan, which cost a small message more than its scan costs us otherwise. clamd has one reading thread, which goes through all
 * connections for each packet.
 */
export class InstreamCommand {
  private readonly outcome = Promise.withResolvers<string>()
  private socket: Socket | undefined
  /** Framed, and not yet written. */
  private unsent: Buffer | undefined
  private received = ''
  private isOver = false

  /** Gives what clamd replied; empty: it closed the connection without a reply. @throws when there is no reply that counts */
  send(address: ClamdAddress, content: Buffer): Promise<string> {
    this.connect(address, () => {
      const length = command.length + lengthBytes + content.length + end.length
      const isShort = length <= frameBuffer.length
      const framed = isShort ? frameBuffer.subarray(0, length) : Buffer.allocUnsafe(length)
      command.copy(framed)
      framed.writeUInt32BE(content.length, command.length)
      content.copy(framed, command.length + lengthBytes)
      end.copy(framed, length - end.length)
      this.write(framed, isShort)
    })
    return this.outcome.promise
  }

  /** Ends the exchange, if it is not over. */
  fail(error: unknown): void {
    this.conclude(() => this.outcome.reject(error))
  }

  /** Closes the connection, if it is open. There is no reply any more. */
  close(): void {
    if (!this.isOver) this.fail(new Error('the scan has ended'))
  }

  private connect(address: ClamdAddress, onOpen: () => void): void {
    const handlers: SocketHandler<undefined> = {
      open: socket => {
        this.socket = socket
        if (this.isOver) socket.terminate()
        else onOpen()
      },
      data: (_, bytes) => this.read(bytes),
      drain: () => this.flush(),
      end: () => this.closed(),
      error: (_, error) => this.fail(error),
      close: () => this.closed(),
    }
    const connecting =
      address.kind === 'unix'
        ? Bun.connect({ unix: address.path, socket: handlers })
        : Bun.connect({ hostname: address.host, port: address.port, socket: handlers })
    connecting.catch(error => this.fail(error))
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
    if (this.received.includes('\0') || this.received.length > maxReplyBytes) this.closed()
  }

  /** The reply is there, or clamd has closed the connection. */
  private closed(): void {
    if (this.isOver) return
    const reply = this.received.replaceAll('\0', ' ').trim()
    // A reply to content of which clamd has not all says nothing.
    if (this.socket && !this.unsent) this.conclude(() => this.outcome.resolve(reply))
    else this.fail(new Error(reply ? `clamd read not all of the message: ${reply}` : 'clamd closed the connection'))
  }

  private conclude(settle: () => void): void {
    if (this.isOver) return
    this.isOver = true
    this.unsent = undefined
    this.socket?.terminate()
    settle()
  }
}
