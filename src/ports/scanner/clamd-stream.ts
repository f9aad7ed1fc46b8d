import type { Socket, SocketHandler } from 'bun'
import type { ClamdAddress } from '../../base/config/config.ts'

const command = Buffer.from('zINSTREAM\0')
const lengthBytes = 4
/** A chunk of no bytes ends the content. */
const end = Buffer.alloc(lengthBytes)
const maxReplyBytes = 64 * 1024
const maxCopiedBytes = 64 * 1024
/** What a short message is framed in, kept so that it leaves the garbage collector nothing. */
const frameBuffer = Buffer.allocUnsafeSlow(128 * 1024)

/**
 * One INSTREAM command (clamd(8)), over a connection of its own. The content comes to clamd in as few packets as possible: it has
 * one reading thread, which goes through all connections for each packet.
 */
export class ClamdStream {
  /** What clamd replied; empty: it closed the connection without a reply. Rejects when there is none that counts. */
  readonly reply: Promise<string>
  private readonly outcome = Promise.withResolvers<string>()
  private socket: Socket | undefined
  /** Framed, and not yet written. */
  private unsent: Buffer | undefined
  private received = ''
  /** Was all of the content given, so that there may be a reply once all is written? */
  private isWhole = false
  private isOver = false
  private onDrained: (() => void) | undefined

  constructor() {
    this.reply = this.outcome.promise
    // Whoever sends may fail before somebody waits for the reply.
    this.reply.catch(() => undefined)
  }

  /** Sends content that is in memory, and waits for the reply. */
  sendAll(address: ClamdAddress, content: Buffer): Promise<string> {
    this.isWhole = true
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
    return this.reply
  }

  /** Sends content in chunks, none of them empty; reads the next one when clamd has taken the last. */
  async sendChunks(address: ClamdAddress, first: Buffer, rest: AsyncIterator<Buffer>): Promise<string> {
    const connected = Promise.withResolvers<void>()
    this.connect(address, connected.resolve)
    this.outcome.promise.then(
      () => connected.resolve(),
      () => connected.resolve(),
    )
    await connected.promise
    try {
      await this.sendChunk([command], first)
      for (;;) {
        const next = await rest.next()
        if (next.done || this.isOver) break
        if (next.value.length > 0) await this.sendChunk([], next.value)
      }
      this.isWhole = true
      await this.send([end])
    } catch (error) {
      this.fail(error)
    }
    return await this.reply
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

  /** A long chunk is not copied behind its length, which costs more than another packet. */
  private async sendChunk(before: readonly Buffer[], chunk: Buffer): Promise<void> {
    const head = [...before, lengthOf(chunk)]
    if (chunk.length > maxCopiedBytes) {
      await this.send(head)
      await this.send([chunk])
    } else await this.send([...head, chunk])
  }

  /** Resolves when all was written, or never will be. */
  private send(pieces: readonly Buffer[]): Promise<void> | undefined {
    if (this.isOver) return undefined
    const [only] = pieces
    this.write(only && pieces.length === 1 ? only : Buffer.concat(pieces), false)
    if (!this.unsent) return undefined
    return new Promise(resolve => {
      this.onDrained = resolve
    })
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
    if (!this.unsent) this.drained()
  }

  private drained(): void {
    this.onDrained?.()
    this.onDrained = undefined
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
    if (this.isWhole && this.socket && !this.unsent) this.conclude(() => this.outcome.resolve(reply))
    else this.fail(new Error(reply ? `clamd read not all of the message: ${reply}` : 'clamd closed the connection'))
  }

  private conclude(settle: () => void): void {
    if (this.isOver) return
    this.isOver = true
    this.unsent = undefined
    this.socket?.terminate()
    settle()
    this.drained()
  }
}

function lengthOf(chunk: Buffer): Buffer {
  const length = Buffer.allocUnsafe(lengthBytes)
  length.writeUInt32BE(chunk.length)
  return length
}
