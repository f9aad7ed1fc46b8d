import { EventEmitter } from 'node:events'
import type { Socket, SocketHandler } from 'bun'
import type { ClamdAddress } from '../../base/config/config.ts'
import { releaseSent } from '../../base/memory/release-memory.ts'

const maxCopiedBytes = 64 * 1024

/**
 * What clamscan uses of a net.Socket, at half of its cost: events `data`, `end` and `error`. What is written comes to
 * clamd in as few packets as possible: it has one reading thread, which goes through all connections for each packet.
 */
export class ClamdSocket extends EventEmitter {
  private socket: Socket | undefined
  private unsent: Buffer[] = []
  private isSending = false
  private isOver = false
  private onDrained: (() => void) | undefined

  constructor() {
    super()
    // Otherwise one that comes before clamscan listens would be thrown.
    this.on('error', () => undefined)
  }

  /** @throws when nobody listens at the address */
  async connect(address: ClamdAddress): Promise<void> {
    const handlers: SocketHandler<undefined> = {
      data: (_, bytes) => void this.emit('data', bytes),
      drain: () => this.send(),
      end: () => this.closed(),
      error: (_, error) => this.closed(error),
      close: (_, error) => this.closed(error),
    }
    const socket =
      address.kind === 'unix'
        ? await Bun.connect({ unix: address.path, socket: handlers })
        : await Bun.connect({ hostname: address.host, port: address.port, socket: handlers })
    this.socket = socket
    if (this.isOver) socket.terminate()
  }

  /** Once clamscan has written all that it has to write now. */
  write(piece: Buffer | string): void {
    this.unsent.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
    if (this.isSending) return
    this.isSending = true
    setImmediate(() => this.send())
  }

  private send(): void {
    while (!this.isOver && this.unsent.length > 0) {
      const bytes = this.nextBytes()
      const sent = Math.max(this.socket?.write(bytes) ?? 0, 0)
      if (sent < bytes.length) {
        this.unsent.unshift(bytes.subarray(sent))
        return
      }
      releaseSent(bytes)
    }
    this.isSending = false
    this.drained()
  }

  /** Short pieces together; a long one by itself, since to copy it costs more than another packet. */
  private nextBytes(): Buffer {
    const first = this.unsent.shift() ?? Buffer.alloc(0)
    const together = [first]
    let length = first.length
    for (const piece of this.unsent) {
      length += piece.length
      if (length > maxCopiedBytes) break
      together.push(piece)
    }
    this.unsent.splice(0, together.length - 1)
    return together.length === 1 ? first : Buffer.concat(together)
  }

  /** Resolves when all that was written was sent, or never will be. */
  async sent(): Promise<void> {
    if (this.unsent.length > 0 && !this.isOver)
      await new Promise<void>(resolve => {
        this.onDrained = resolve
      })
  }

  private drained(): void {
    this.onDrained?.()
    this.onDrained = undefined
  }

  /** As {@link destroy}: clamscan has no use for half a connection. */
  end(): void {
    this.destroy()
  }

  destroy(): void {
    this.isOver = true
    this.socket?.terminate()
    this.drained()
  }

  /** clamd has closed the connection, or it broke. */
  private closed(error?: Error | null): void {
    if (this.isOver) return
    // A reply to a message of which clamd has not all says nothing.
    const failure = error ?? (this.unsent.length > 0 ? new Error('clamd closed the connection') : undefined)
    this.destroy()
    if (failure) this.emit('error', failure)
    else this.emit('end')
  }
}
