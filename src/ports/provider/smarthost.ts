import type { Provider, ProviderTraits, Submission } from './port.ts'
import { outcomesOf, silent, type Transcript } from './replies.ts'
import { readSmarthostUrl } from './smarthost-address.ts'
import { openPool } from './smarthost-pool.ts'
import { openSession, type SessionOptions, SessionRefused } from './smarthost-session.ts'

export interface SmarthostOptions {
  /** `smtp://user:password@host:port` or `smtps://…`; see {@link readSmarthostUrl}. */
  readonly url: string
  /** Connections at once. */
  readonly connections: number
  /** The longest silence of the relay, in milliseconds; it must be ready within half a minute. */
  readonly attemptTimeoutMs: number
  /** Our name in EHLO. */
  readonly hostname: string
  /** Does the relay keep the envelope sender? Then bounces come back to us. */
  readonly returnPath: ProviderTraits['returnPath']
}

const readyMs = 30_000

/** Any SMTP relay. Connections are kept and used again; one that died while it waited is replaced unseen. */
export function smarthostProvider(options: SmarthostOptions): Provider {
  const session: SessionOptions = {
    address: readSmarthostUrl(options.url),
    hostname: options.hostname,
    readyMs: Math.min(options.attemptTimeoutMs, readyMs),
    silenceMs: options.attemptTimeoutMs,
  }
  const pool = openPool({ ...session, maxSessions: options.connections })
  let smtputf8 = false

  async function transact(submission: Submission, fresh: boolean): Promise<Transcript> {
    const { session, isUsed } = await pool.borrow(submission.signal, fresh)
    smtputf8 = session.smtputf8
    const transcript = await session.transact(submission)
    // What ended without the relay taking the message leaves its envelope behind (RFC 5321 §4.1.1.5).
    const isTaken = transcript.replies.at(-1)?.startsWith('2')
    if (session.isLive && !isTaken && transcript.unsendable === null) await session.reset()
    pool.giveBack(session)
    return isUsed && hadDied(transcript) && !submission.signal.aborted ? transact(submission, true) : transcript
  }

  return {
    traits: {
      name: 'smarthost',
      returnPath: options.returnPath,
      messageId: 'kept',
      reports: options.returnPath === 'ours' ? 'dsn' : 'none',
      get smtputf8() {
        return smtputf8
      },
      grouped: false,
      submissionsAtOnce: options.connections,
    },
    async submit(submission) {
      try {
        return outcomesOf(await transact(submission, false), submission.recipients.length)
      } catch (error) {
        const reply = error instanceof SessionRefused ? error.reply : silent('connect', String(error))
        return submission.recipients.map(() => ({ kind: 'route-trouble', reply }))
      }
    },
    async trouble() {
      try {
        const opened = await openSession(session, AbortSignal.timeout(session.readyMs))
        await opened.quit()
        return null
      } catch (error) {
        if (!(error instanceof SessionRefused)) throw error
        const { phase, code, text } = error.reply
        return `${phase}: ${code === null ? '' : `${code} `}${text}`
      }
    },
    close: () => pool.close(),
  }
}

/** Had the relay left the connection before it heard of this message? */
function hadDied({ replies, ended }: Transcript): boolean {
  return ended !== null && (replies.length === 0 || (replies.length === 1 && replies[0]?.startsWith('421') === true))
}
