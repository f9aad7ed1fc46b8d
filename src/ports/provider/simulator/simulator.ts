import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/observability/log.ts'
import type { Provider, ProviderReply, Submission, SubmissionOutcome } from '../port.ts'
import type { ProviderEvent } from '../webhooks/webhook.ts'
import { autoReplyMessage, complaintMessage, dsnMessage, type SimulatedStatus } from './report-messages.ts'
import type { SimulatedReport } from './table.ts'

/** The domain whose recipients are simulated. It is reserved: nobody has it (RFC 6761 §6.2). */
const simulatedDomain = 'simulator.test'

export interface SimulatorDeps {
  readonly clock: Clock
  /** Keeps what is to be told of a submission, for good; see simulated-telling.ts. */
  readonly storeReports: (reports: readonly SimulatedReport[]) => Promise<void>
  readonly log: Log
}

/** What happens to mail to a simulated recipient. */
interface Behaviour {
  readonly outcome: SubmissionOutcome
  readonly status: SimulatedStatus | null
  readonly followUp: 'complaint' | 'absence' | null
}

const taken: SubmissionOutcome = {
  kind: 'accepted',
  reply: reply('final-dot', 250, '2.0.0', 'Taken by the simulator'),
  providerMessageId: null,
}
const delivered: SimulatedStatus = { action: 'delivered', status: '2.0.0', reply: '250 2.0.0 Delivered (simulated)' }
const onlyOutcome = (outcome: SubmissionOutcome): Behaviour => ({ outcome, status: null, followUp: null })

const behaviours: Readonly<Record<string, Behaviour>> = {
  delivered: { outcome: taken, status: delivered, followUp: null },
  bounce: {
    outcome: taken,
    status: { action: 'failed', status: '5.1.1', reply: '550 5.1.1 No such user (simulated)' },
    followUp: null,
  },
  softbounce: {
    outcome: taken,
    status: { action: 'failed', status: '4.2.2', reply: '452 4.2.2 Mailbox full (simulated)' },
    followUp: null,
  },
  complaint: { outcome: taken, status: delivered, followUp: 'complaint' },
  ooto: { outcome: taken, status: delivered, followUp: 'absence' },
  delay: onlyOutcome({
    kind: 'deferred',
    reply: reply('rcpt', 451, '4.7.1', 'Try again later (simulated)'),
    ambiguous: false,
  }),
  reject: onlyOutcome({ kind: 'failed', reply: reply('final-dot', 554, '5.6.0', 'Content refused (simulated)') }),
}

const unknown = onlyOutcome({
  kind: 'failed',
  reply: reply('rcpt', 550, '5.1.3', `The simulator knows ${Object.keys(behaviours).join(', ')}`),
})

function reply(phase: ProviderReply['phase'], code: number, enhancedCode: string, text: string): ProviderReply {
  return { phase, code, enhancedCode, text }
}

const notKept: SubmissionOutcome = {
  kind: 'deferred',
  reply: reply('final-dot', 451, '4.3.0', 'The simulator could not keep what it has to tell'),
  ambiguous: false,
}

/**
 * Keeps back what is for recipients at `simulator.test` and lets happen what their local part says, a `+tag` aside:
 * `delivered`, `bounce`, `softbounce`, `complaint`, `delay`, `reject`, `ooto` (an out-of-office answer). What it will tell
 * of a message is durable before it takes that.
 */
export function withSimulator(provider: Provider, deps: SimulatorDeps): Provider {
  async function simulate(submission: Submission, recipients: ReadonlyMap<string, Behaviour>): Promise<boolean> {
    const reports = Array.from(recipients, ([recipient, behaviour]) =>
      reportsOf(submission, recipient, behaviour, deps.clock),
    )
    try {
      await deps.storeReports(reports.flat())
      return true
    } catch (error) {
      deps.log.error({ err: error, email_id: submission.emailId }, 'could not keep simulated reports')
      return false
    }
  }

  return {
    traits: provider.traits,
    async submit(submission) {
      const own = submission.recipients.map(behaviourOf)
      const simulated = new Map(
        submission.recipients.flatMap((recipient, i) => (own[i] ? [[recipient, own[i]] as const] : [])),
      )
      const others = submission.recipients.filter((_, i) => own[i] === null)
      const [isKept, elsewhere] = await Promise.all([
        simulated.size > 0 ? simulate(submission, simulated) : true,
        others.length > 0 ? provider.submit({ ...submission, recipients: others }) : [],
      ])
      let next = 0
      return own.map(behaviour => (behaviour ? (isKept ? behaviour.outcome : notKept) : (elsewhere[next++] ?? taken)))
    },
    checkHealth: () => provider.checkHealth(),
    close: () => provider.close(),
  }
}

/** What is told of a recipient afterwards: nothing where the outcome says all. */
function reportsOf(
  submission: Submission,
  recipient: string,
  { status: told, followUp }: Behaviour,
  clock: Clock,
): readonly SimulatedReport[] {
  if (told === null) return []
  const base = { emailId: submission.emailId, recipient }
  const event = newsOf(submission, recipient, told, clock)
  const status = { ...base, kind: 'status', mail: dsnMessage(submission, recipient, told), event } as const
  switch (followUp) {
    case 'complaint':
      return [
        status,
        { ...base, kind: followUp, mail: complaintMessage(submission, recipient), event: complaintNews(event) },
      ]
    case 'absence':
      return [status, { ...base, kind: followUp, mail: autoReplyMessage(submission, recipient), event: null }]
    case null:
      return [status]
    default:
      return followUp satisfies never
  }
}

/** null: the recipient is a real one. */
function behaviourOf(recipient: string): Behaviour | null {
  const at = recipient.lastIndexOf('@')
  if (recipient.slice(at + 1).toLowerCase() !== simulatedDomain) return null
  const name = recipient.slice(0, at).toLowerCase().replace(/\+.*$/, '')
  return Object.hasOwn(behaviours, name) ? (behaviours[name] ?? unknown) : unknown
}

function newsOf({ emailId }: Submission, recipient: string, told: SimulatedStatus, clock: Clock): ProviderEvent {
  const occurredAt = clock.now()
  const isBounce = told.action === 'failed'
  const type = told.status.startsWith('4') ? 'transient' : 'permanent'
  return {
    type: isBounce ? 'bounced' : 'delivered',
    emailId,
    recipient,
    occurredAt,
    key: `simulated ${told.action} ${emailId} ${recipient}`,
    smtpCode: Number(told.reply.slice(0, 3)),
    enhancedCode: told.status,
    detail: told.reply,
    bounce: isBounce ? { type, scope: 'recipient' } : null,
    providerMessageId: null,
    wireMessageId: null,
  }
}

function complaintNews(event: ProviderEvent): ProviderEvent {
  return {
    ...event,
    type: 'complained',
    key: `${event.key} complained`,
    smtpCode: null,
    enhancedCode: null,
    detail: 'The recipient complained (simulated)',
  }
}
