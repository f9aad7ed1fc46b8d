import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/observability/log.ts'
import {
  type Provider,
  type ProviderReply,
  type Submission,
  type SubmissionOutcome,
  withdrawnOutcome,
} from '../port.ts'
import type { ProviderEvent } from '../webhooks/webhook.ts'
import { autoReplyMessage, complaintMessage, dsnMessage, type SimulatedStatus } from './report-messages.ts'
import type { SimulatedReport } from './table.ts'

/** The domain whose recipients are simulated. Names below `.test` are reserved, so nobody owns it (RFC 6761 §6.2). */
const simulatedDomain = 'simulator.test'

export interface SimulatorDeps {
  readonly clock: Clock
  /** Stores the reports that follow a submission durably; deliver-reports.ts delivers them. */
  readonly storeReports: (reports: readonly SimulatedReport[]) => Promise<void>
  readonly log: Log
}

/** What happens to mail for a simulated recipient: the outcome, the delivery status reported later, and what follows that. */
interface Behaviour {
  readonly outcome: SubmissionOutcome
  readonly status: SimulatedStatus | null
  readonly followUp: 'complaint' | 'absence' | null
}

const accepted: SubmissionOutcome = {
  kind: 'accepted',
  reply: reply('final-dot', 250, '2.0.0', 'Accepted by the simulator'),
  providerMessageId: null,
}
const delivered: SimulatedStatus = { action: 'delivered', status: '2.0.0', reply: '250 2.0.0 Delivered (simulated)' }
const onlyOutcome = (outcome: SubmissionOutcome): Behaviour => ({ outcome, status: null, followUp: null })

const behaviours: Readonly<Record<string, Behaviour>> = {
  delivered: { outcome: accepted, status: delivered, followUp: null },
  bounce: {
    outcome: accepted,
    status: { action: 'failed', status: '5.1.1', reply: '550 5.1.1 No such user (simulated)' },
    followUp: null,
  },
  softbounce: {
    outcome: accepted,
    status: { action: 'failed', status: '4.2.2', reply: '452 4.2.2 Mailbox full (simulated)' },
    followUp: null,
  },
  complaint: { outcome: accepted, status: delivered, followUp: 'complaint' },
  ooto: { outcome: accepted, status: delivered, followUp: 'absence' },
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

const notStored: SubmissionOutcome = {
  kind: 'deferred',
  reply: reply('final-dot', 451, '4.3.0', 'The simulator could not store its reports'),
  ambiguous: false,
}

/**
 * A provider that simulates the recipients at `simulator.test` and passes all others on to `provider`. The local part,
 * without its `+tag`, chooses the behaviour: `delivered`, `bounce`, `softbounce`, `complaint`, `delay`, `reject`, `ooto` (an
 * out-of-office reply). The reports of a message are stored before it is accepted.
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
      deps.log.error(
        { err: error, email_id: submission.emailId },
        'could not store simulated reports; the email will be tried again',
      )
      return false
    }
  }

  return {
    traits: provider.traits,
    async submit(submission) {
      const chosen = submission.recipients.map(behaviourOf)
      const simulated = new Map(
        submission.recipients.flatMap((recipient, i) => (chosen[i] ? [[recipient, chosen[i]] as const] : [])),
      )
      if (simulated.size > 0 && !submission.mayBeAccepted()) return chosen.map(() => withdrawnOutcome('final-dot'))
      const real = submission.recipients.filter((_, i) => chosen[i] === null)
      const [isStored, realOutcomes] = await Promise.all([
        simulated.size > 0 ? simulate(submission, simulated) : true,
        real.length > 0 ? provider.submit({ ...submission, recipients: real }) : [],
      ])
      let next = 0
      return chosen.map(behaviour => {
        if (!behaviour) return realOutcomes[next++] ?? accepted
        return isStored ? behaviour.outcome : notStored
      })
    },
    checkHealth: () => provider.checkHealth(),
    close: () => provider.close(),
  }
}

/** The reports that follow; none where the outcome is final. */
function reportsOf(
  submission: Submission,
  recipient: string,
  { status, followUp }: Behaviour,
  clock: Clock,
): readonly SimulatedReport[] {
  if (status === null) return []
  const base = { emailId: submission.emailId, recipient }
  const event = statusEvent(submission, recipient, status, clock)
  const report = { ...base, kind: 'status', mail: dsnMessage(submission, recipient, status), event } as const
  switch (followUp) {
    case 'complaint':
      return [
        report,
        { ...base, kind: followUp, mail: complaintMessage(submission, recipient), event: complaintEvent(event) },
      ]
    case 'absence':
      return [report, { ...base, kind: followUp, mail: autoReplyMessage(submission, recipient), event: null }]
    case null:
      return [report]
    default:
      return followUp satisfies never
  }
}

/** null: a real recipient. */
function behaviourOf(recipient: string): Behaviour | null {
  const at = recipient.lastIndexOf('@')
  if (recipient.slice(at + 1).toLowerCase() !== simulatedDomain) return null
  const name = recipient.slice(0, at).toLowerCase().replace(/\+.*$/, '')
  return Object.hasOwn(behaviours, name) ? (behaviours[name] ?? unknown) : unknown
}

function statusEvent(
  { emailId }: Submission,
  recipient: string,
  simulated: SimulatedStatus,
  clock: Clock,
): ProviderEvent {
  const occurredAt = clock.now()
  const isBounce = simulated.action === 'failed'
  const type = simulated.status.startsWith('4') ? 'transient' : 'permanent'
  return {
    type: isBounce ? 'bounced' : 'delivered',
    emailId,
    recipient,
    occurredAt,
    key: `simulated ${simulated.action} ${emailId} ${recipient}`,
    smtpCode: Number(simulated.reply.slice(0, 3)),
    enhancedCode: simulated.status,
    detail: simulated.reply,
    bounce: isBounce ? { type, scope: 'recipient' } : null,
    providerMessageId: null,
    wireMessageId: null,
  }
}

function complaintEvent(event: ProviderEvent): ProviderEvent {
  return {
    ...event,
    type: 'complained',
    key: `${event.key} complained`,
    smtpCode: null,
    enhancedCode: null,
    detail: 'The recipient complained (simulated)',
  }
}
