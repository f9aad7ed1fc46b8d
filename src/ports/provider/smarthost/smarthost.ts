import type { Provider, Submission, SubmissionOutcome } from '../port.ts'
import { createThrottle } from '../throttle.ts'
import { readSmarthostUrl } from './address.ts'
import { createSessionPool, type SessionPool } from './connection-pool.ts'
import { failoverHosts } from './hosts.ts'
import type { Preset } from './presets.ts'
import { noReply, outcomesOf, type Transcript } from './replies.ts'
import { openSession, SessionError, type SessionOptions } from './session.ts'

export interface SmarthostOptions {
  /** `smtp://user:password@host:port` or `smtps://…`, in the order in which they are used; see {@link readSmarthostUrl}. */
  readonly urls: readonly string[]
  /** Connections at once, to each host. */
  readonly connections: number
  /** Submissions a second, at most; null: no limit. */
  readonly perSecond: number | null
  /** The longest silence of the relay, in milliseconds; it must be ready within half a minute. */
  readonly attemptTimeoutMs: number
  /** Our name in EHLO. */
  readonly hostname: string
  readonly preset: Preset
  /** Ask for notifications of deliveries too (RFC 3461 §4.1). */
  readonly dsnSuccess: boolean
}

const readyMs = 30_000
/** What waits for its turn is at most so far behind, in seconds. */
const maxBehindSeconds = 10

interface RelayHost {
  readonly session: SessionOptions
  readonly pool: SessionPool
}

/**
 * SMTP relays, the first of them that is not in trouble. Connections are kept and used again; one that died while it waited
 * is replaced unseen. What one host refuses for the route's sake is offered to the next: nothing of it was taken.
 */
export function smarthostProvider(options: SmarthostOptions): Provider {
  const { preset, perSecond, connections } = options
  const relays = options.urls.map(url => openRelay(url, options))
  const hosts = failoverHosts(relays)
  const pace = createThrottle(perSecond)
  let smtputf8 = false

  async function transact(pool: SessionPool, submission: Submission, fresh: boolean): Promise<Transcript> {
    const { session, isUsed } = await pool.acquire(submission.signal, fresh)
    smtputf8 = session.smtputf8
    const transcript = await session.transact(submission)
    // What ended without the relay taking the message leaves its envelope behind (RFC 5321 §4.1.1.5).
    const isTaken = transcript.replies.at(-1)?.startsWith('2')
    if (session.isLive && !isTaken && transcript.unsendable === null) await session.reset()
    pool.release(session)
    return isUsed && hadDied(transcript) && !submission.signal.aborted ? transact(pool, submission, true) : transcript
  }

  async function submitTo({ pool }: RelayHost, submission: Submission): Promise<readonly SubmissionOutcome[]> {
    try {
      const outcomes = outcomesOf(await transact(pool, submission, false), submission.recipients.length)
      return preset.repliesWithMessageId ? outcomes.map(withMessageId) : outcomes
    } catch (error) {
      const reply = error instanceof SessionError ? error.reply : noReply('connect', String(error))
      return submission.recipients.map(() => ({ kind: 'route-trouble', reply }))
    }
  }

  return {
    traits: {
      name: preset.name,
      returnPath: preset.returnPath,
      messageId: preset.messageId,
      unsignedHeaders: preset.unsignedHeaders,
      reports: preset.reports,
      get smtputf8() {
        return smtputf8
      },
      multipleRecipients: false,
      maxConcurrentSubmissions: perSecond === null ? connections : Math.min(connections, perSecond * maxBehindSeconds),
    },
    async submit(submission) {
      await pace(submission.signal)
      const whole = withFields(submission, preset)
      let outcomes: readonly SubmissionOutcome[] = []
      for (const host of hosts()) {
        outcomes = await submitTo(host.value, whole)
        if (isHostTrouble(outcomes)) host.failed()
        else host.succeeded()
        if (submission.signal.aborted || !outcomes.every(outcome => outcome.kind === 'route-trouble')) break
      }
      return outcomes
    },
    async checkHealth() {
      const all = await Promise.all(relays.map(relay => troubleOf(relay.session)))
      return all.includes(null) ? null : all.join('; ')
    },
    async close() {
      await Promise.all(relays.map(relay => relay.pool.close()))
    },
  }
}

function openRelay(url: string, options: SmarthostOptions): RelayHost {
  const session: SessionOptions = {
    address: readSmarthostUrl(url),
    hostname: options.hostname,
    readyMs: Math.min(options.attemptTimeoutMs, readyMs),
    silenceMs: options.attemptTimeoutMs,
    notify: options.preset.supportsDsn ? notifications(options.dsnSuccess) : null,
  }
  return { session, pool: createSessionPool({ ...session, maxSessions: options.connections }) }
}

function notifications(ofSuccess: boolean): SessionOptions['notify'] {
  return ofSuccess ? ['SUCCESS', 'FAILURE', 'DELAY'] : ['FAILURE', 'DELAY']
}

/** With the fields for the relay in front of it; the signatures do not cover them. */
function withFields(submission: Submission, { headerFieldsFor }: Preset): Submission {
  const fields = headerFieldsFor(submission.emailId).map(field => `${field}\r\n`)
  if (fields.length === 0) return submission
  return { ...submission, message: Buffer.concat([Buffer.from(fields.join('')), submission.message]) }
}

function withMessageId(outcome: SubmissionOutcome): SubmissionOutcome {
  if (outcome.kind !== 'accepted' || !outcome.providerMessageId?.includes('@')) return outcome
  return { ...outcome, wireMessageId: outcome.providerMessageId }
}

/** Is it the host that is in trouble, rather than what it thinks of this sender? */
function isHostTrouble([first]: readonly SubmissionOutcome[]): boolean {
  if (first?.kind !== 'route-trouble') return false
  const { phase, code } = first.reply
  return code === null || code === 421 || !['mail', 'rcpt', 'data', 'final-dot'].includes(phase)
}

async function troubleOf(session: SessionOptions): Promise<string | null> {
  try {
    const opened = await openSession(session, AbortSignal.timeout(session.readyMs))
    await opened.quit()
    return null
  } catch (error) {
    if (!(error instanceof SessionError)) throw error
    const { phase, code, text } = error.reply
    return `${phase}: ${code === null ? '' : `${code} `}${text}`
  }
}

/** Had the relay left the connection before it heard of this message? */
function hadDied({ replies, ended }: Transcript): boolean {
  return ended !== null && (replies.length === 0 || (replies.length === 1 && replies[0]?.startsWith('421') === true))
}
