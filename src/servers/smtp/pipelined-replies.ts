import type { Socket } from 'node:net'

/**
 * Sends the replies to pipelined commands together (RFC 2920 §3.2): a packet of its own costs more than the command. A reply
 * waits for the others until the end of this turn of the event loop, or for the one that is looked up.
 */
export class PipelinedReplies {
  private readonly isLookingUp: () => boolean
  /** Undefined: replies are sent at once. */
  private corked: Socket | undefined

  /** @param isLookingUp is the next reply still to be found out? */
  constructor(isLookingUp: () => boolean) {
    this.isLookingUp = isLookingUp
  }

  hold(socket: Socket): void {
    if (this.corked) return
    this.corked = socket
    socket.cork()
    this.sendSoon()
  }

  /** Sends at the end of this turn of the event loop what is held then. */
  sendSoon(): void {
    if (this.corked) setImmediate(() => this.send())
  }

  private send(): void {
    if (this.isLookingUp()) return
    this.corked?.uncork()
    this.corked = undefined
  }
}
