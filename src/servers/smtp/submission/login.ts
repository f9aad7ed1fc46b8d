import { replyFor, type SmtpRefusal, type SmtpRefusalCode, type SmtpReply } from '../../../receiving/smtp-refusal.ts'
import type { LookupReplies } from '../lookup.ts'
import { loginReplies } from '../metrics.ts'
import { type AuthStep, beginAuth } from './auth-dialog.ts'

type Done = () => void

/** The session, as far as a login needs it. */
export interface LoginSession {
  reply(reply: SmtpReply): void
  /** Sends the reply 334 with this text, and the line that answers it to `next`. */
  prompt(text: string, next: (answer: string, done: Done) => void): void
  /** Waits for the service before the reply to a command. */
  waitFor<Result>(work: Promise<Result>, replies: LookupReplies<Result>): void
  /** The client is logged in from here on. */
  setLoggedIn(): void
  /** Logs that the client is not. */
  logRefusedLogin(refusal: SmtpRefusal): void
  /** Sends the reply for the reason and closes the session. */
  cut(code: SmtpRefusalCode): void
}

const success: SmtpReply = { code: 235, enhanced: '2.7.0', text: 'Authentication successful' }

/** The logins of one session: each from AUTH to its reply (RFC 4954 §4). Several that fail end the session. */
export class Login {
  private failures = 0
  private readonly session: LoginSession
  private readonly logIn: (password: string) => Promise<void>
  private readonly maxFailures: number

  /** @param logIn rejects with SmtpRefusal; `auth_failed` counts as a failure */
  constructor(session: LoginSession, logIn: (password: string) => Promise<void>, maxFailures: number) {
    this.session = session
    this.logIn = logIn
    this.maxFailures = maxFailures
  }

  /** Handles AUTH with this line. */
  begin(line: string, done: Done): void {
    this.advance(beginAuth(line), done)
  }

  /** Replies to AUTH with this refusal. */
  refuse(code: SmtpRefusalCode, done: Done, reply: SmtpReply = replyFor(code)): void {
    loginReplies.inc({ result: code })
    this.session.reply(reply)
    done()
  }

  private advance(step: AuthStep, done: Done): void {
    switch (step.kind) {
      case 'prompt':
        this.session.prompt(step.text, (answer, answered) => this.advance(step.next(answer), answered))
        done()
        break
      case 'refused':
        this.refuse(step.code, done)
        break
      case 'credentials':
        this.session.waitFor(this.logIn(step.password), {
          succeed: () => {
            loginReplies.inc({ result: 'accepted' })
            this.session.setLoggedIn()
            this.session.reply(success)
            done()
          },
          fail: refusal => {
            const { code, reply } = refusal
            this.session.logRefusedLogin(refusal)
            const isLast = code === 'auth_failed' && ++this.failures >= this.maxFailures
            if (isLast) this.session.cut('too_many_logins')
            else this.refuse(code, done, reply)
          },
        })
        break
      default:
        step satisfies never
    }
  }
}
