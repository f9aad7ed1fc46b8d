import { refuseMail, type SmtpRefusal, toSmtpRefusal } from '../../receiving/smtp-refusal.ts'

/** What follows from a look-up: one of the two is called. */
export interface LookupReplies<Result> {
  readonly succeed: (result: Result) => void
  readonly fail: (refusal: SmtpRefusal) => void
}

/** What a session waits for before its reply to a command, such as who a recipient is: one look-up at a time. */
export class Lookup {
  private readonly onEnd: (sendReply: () => void) => void
  private current: { readonly since: number; readonly giveUp: () => void } | undefined

  /** @param onEnd called with what sends the reply, once the session no longer waits */
  constructor(onEnd: (sendReply: () => void) => void) {
    this.onEnd = onEnd
  }

  get isWaiting(): boolean {
    return this.current !== undefined
  }

  waitFor<Result>(work: Promise<Result>, { succeed, fail }: LookupReplies<Result>): void {
    const end = (sendReply: () => void) => {
      if (this.current !== current) return
      this.current = undefined
      this.onEnd(sendReply)
    }
    const current = {
      since: performance.now(),
      giveUp: () => end(() => fail(refuseMail('answer_late'))),
    }
    this.current = current
    work.then(
      result => end(() => succeed(result)),
      error => end(() => fail(toSmtpRefusal(error))),
    )
  }

  /** Gives up on one that has taken `maxMs` or longer: the sender may try again. */
  giveUpAfter(maxMs: number, now: number): void {
    if (this.current && now - this.current.since >= maxMs) this.current.giveUp()
  }

  /** Nobody waits for the reply any more. */
  forget(): void {
    this.current = undefined
  }
}
