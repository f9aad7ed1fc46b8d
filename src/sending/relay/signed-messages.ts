import type { Release } from '../../base/concurrency/semaphore.ts'
import { newWeightedSemaphore } from '../../base/concurrency/weighted-semaphore.ts'
import type { Id } from '../../base/ids.ts'

/** Large messages in memory at once, in bytes; each is there about three times while it is signed and submitted. */
const maxLargeBytes = 64 * 1024 * 1024
/** Up to this size a message stays in memory as long as any of its recipients is in hand. */
const maxSmallBytes = 128 * 1024

interface SignedMessage {
  users: number
  made: Promise<Buffer> | undefined
  release: Release | undefined
}

/** An email whose message is needed; its size is that of the stored message, in bytes. */
interface EmailSize {
  readonly emailId: Id<'eml'>
  readonly size: number
}

/**
 * The messages of the emails that are being submitted, signed once for all recipients that are in hand at the same time.
 * Memory is bounded: by their number for small messages, by their bytes for large ones.
 */
export class SignedMessages {
  private readonly messages = new Map<Id<'eml'>, SignedMessage>()
  private readonly memory = newWeightedSemaphore(maxLargeBytes)

  /** A recipient of the email is in hand: a small message is made now. To be followed by {@link SignedMessages.leave}. */
  enter({ emailId, size }: EmailSize, make: () => Promise<Buffer>): void {
    if (size > maxSmallBytes) return
    const message = this.addUser(emailId)
    message.made ??= this.make(message, size, make)
    // Whoever uses the message makes it again.
    message.made.catch(() => undefined)
  }

  leave({ emailId, size }: EmailSize): void {
    if (size <= maxSmallBytes) this.removeUser(emailId)
  }

  /** Runs `work`, which gets a function that gives the email's message, made by `make` unless it is in memory. */
  async use<Result>(
    { emailId, size }: EmailSize,
    work: (signed: (make: () => Promise<Buffer>) => Promise<Buffer>) => Promise<Result>,
  ): Promise<Result> {
    const message = this.addUser(emailId)
    try {
      return await work(make => (message.made ??= this.make(message, size, make)))
    } finally {
      this.removeUser(emailId)
    }
  }

  private async make(message: SignedMessage, size: number, make: () => Promise<Buffer>): Promise<Buffer> {
    try {
      if (size > maxSmallBytes) {
        const release = await this.memory.acquire(size)
        message.release = release
        // Whoever wanted it has given up meanwhile.
        if (message.users === 0) throw new Error('nobody needs the message any more')
      }
      return await make()
    } catch (error) {
      message.made = undefined
      message.release?.()
      message.release = undefined
      throw error
    }
  }

  private addUser(emailId: Id<'eml'>): SignedMessage {
    const message = this.messages.get(emailId) ?? { users: 0, made: undefined, release: undefined }
    this.messages.set(emailId, message)
    message.users++
    return message
  }

  private removeUser(emailId: Id<'eml'>): void {
    const message = this.messages.get(emailId)
    if (!message || --message.users > 0) return
    message.release?.()
    this.messages.delete(emailId)
  }
}
