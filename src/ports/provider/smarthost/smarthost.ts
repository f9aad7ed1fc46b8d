import { type Provider, type Submission, type SubmissionOutcome, withdrawnOutcome } from '../port.ts'
import { createThrottle } from '../throttle.ts'
import { readSmarthostUrl } from './address.ts'
import { createSessionPool, isRefusedForNow, type SessionPool } from './connection-pool.ts'
import { failoverHosts } from './hosts.ts'
import type { Preset } from './presets.ts'
import { noReply, outcomesOf, type Transcript } from './replies.ts'
import { openSession, SessionError, type SessionOptions } from './session.ts'

export interface SmarthostOptions {
  /** `smtp://user:password@host:port` or `smtps://…`, in order of preference; see {@link readSmarthostUrl}. */
  readonly urls: readonly string[]
  /** Connections at once to each host. */
  readonly connections: number
  /** Submissions a second, at most; null: no limit. */
  readonly perSecond: number | null
  /** How long the relay may be silent, in milliseconds; to be ready for a message it has at most half a minute. */
  readonly attemptTimeoutMs: number
  /** Our name in EHLO. */
  readonly hostname: string
  readonly preset: Preset
  /** Ask for notifications of successful deliveries too (NOTIFY=SUCCESS, RFC 3461 §4.1)? */
  readonly dsnSuccess: boolean
}

const readyMs = 30_000
/** Submissions that wait for the throttle take no longer than this. */
const maxThrottleSeconds = 10

interface RelayHost {
  readonly session: SessionOptions
  readonly pool: SessionPool
}

/**
 * SMTP relays, through nodemailer. Uses the first host that works: after a route error a message is submitted to the next
 * host, since the first one did not accept it. Connections are pooled; one that died while it was idle is replaced.
 */
export function smarthostProvider(options: SmarthostOptions): Provider {
  const { preset, perSecond, connections } = options
  const relays = options.urls.map(url => openRelay(url, options))
  const hosts = failoverHosts(relays)
  const throttle = perSecond === null ? undefined : createThrottle(perSecond)
  let smtputf8 = false

  async function transact(pool: SessionPool, submission: Submission, fresh: boolean): Promise<Transcript> {
    const { session, wasUsed } = await pool.acquire(untilTransmitted(submission), fresh)
    smtputf8 = session.smtputf8
    const transcript = await session.transact(submission)
    // Where the relay did not accept the message, the session still has its envelope (RFC 5321 §4.1.1.5).
    const isAccepted = transcript.replies.at(-1)?.startsWith('2')
    if (session.isLive && !isAccepted && transcript.unsendable === null) await session.reset()
    pool.release(session)
    const isToRepeat = wasUsed && hadDied(transcript) && !submission.signal.aborted
    return isToRepeat ? transact(pool, submission, true) : transcript
  }

  async function submitTo({ pool }: RelayHost, submission: Submission): Promise<readonly SubmissionOutcome[]> {
    try {
      const outcomes = outcomesOf(await transact(pool, submission, false), submission.recipients.length)
      return preset.repliesWithMessageId ? outcomes.map(withMessageId) : outcomes
    } catch (error) {
      if (submission.withdraw?.aborted) return submission.recipients.map(() => withdrawnOutcome('connect'))
      const reply = error instanceof SessionError ? error.reply : noReply('connect', String(error))
      return submission.recipients.map(() => ({ kind: 'route-error', reply }))
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
      maxConcurrentSubmissions:
        perSecond === null ? connections : Math.min(connections, perSecond * maxThrottleSeconds),
    },
    async submit(submission) {
      await throttle?.(untilTransmitted(submission))
      const prepared = withFields(submission, preset)
      let outcomes: readonly SubmissionOutcome[] = []
      for (const host of hosts()) {
        outcomes = await submitTo(host.value, prepared)
        if (outcomes.some(outcome => outcome.kind === 'withdrawn')) break
        if (isHostFailure(outcomes)) host.failed()
        else host.succeeded()
        if (submission.signal.aborted || !outcomes.every(outcome => outcome.kind === 'route-error')) break
      }
      return outcomes
    },
    async checkHealth() {
      const problems = await Promise.all(relays.map(relay => healthOf(relay)))
      return problems.includes(null) ? null : problems.join('; ')
    },
    async close() {
      await Promise.all(relays.map(relay => relay.pool.close()))
    },
  }
}

/** Fires when the submission is to end before anything of it is transmitted. */
function untilTransmitted({ signal, withdraw }: Submission): AbortSignal {
  return withdraw ? AbortSignal.any([signal, withdraw]) : signal
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

/** The submission with the preset's header fields in front, which our signatures do not cover. */
function withFields(submission: Submission, { headerFieldsFor }: Preset): Submission {
  const fields = headerFieldsFor(submission.emailId).map(field => `${field}\r\n`)
  if (fields.length === 0) return submission
  return { ...submission, message: Buffer.concat([Buffer.from(fields.join('')), submission.message]) }
}

function withMessageId(outcome: SubmissionOutcome): SubmissionOutcome {
  if (outcome.kind !== 'accepted' || !outcome.providerMessageId?.includes('@')) return outcome
  return { ...outcome, wireMessageId: outcome.providerMessageId }
}

/** Did the host fail, rather than refuse this sender? */
function isHostFailure([first]: readonly SubmissionOutcome[]): boolean {
  if (first?.kind !== 'route-error') return false
  const { phase, code } = first.reply
  return code === null || code === 421 || !['mail', 'rcpt', 'data', 'final-dot'].includes(phase)
}

async function healthOf({ session, pool }: RelayHost): Promise<string | null> {
  try {
    const opened = await openSession(session, AbortSignal.timeout(session.readyMs))
    await opened.quit()
    return null
  } catch (error) {
    if (!(error instanceof SessionError)) throw error
    // It may allow no more sessions than those that it serves.
    if (pool.isInUse && isRefusedForNow(error)) return null
    const { phase, code, text } = error.reply
    return `${phase}: ${code === null ? '' : `${code} `}${text}`
  }
}

/** Had the relay closed the connection before it received anything of this message? */
function hadDied({ replies, ended }: Transcript): boolean {
  return ended !== null && (replies.length === 0 || (replies.length === 1 && replies[0]?.startsWith('421') === true))
}
