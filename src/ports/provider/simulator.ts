import { type Clock, toIso } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Outcome, Provider, Reply, Submission } from './port.ts'
import { absence, complaint, notification, type ReportMail, type Told } from './simulated-reports.ts'
import type { ProviderNews } from './webhook.ts'

/** The domain whose recipients are simulated. It is reserved: nobody has it (RFC 6761 §6.2). */
const simulatedDomain = 'simulator.test'

export interface Simulating {
  readonly clock: Clock
  readonly log: Log
  /** Takes a report as mail to our reverse-path, as if it had come in. False: that is no address for reports. */
  readonly takeMail: (mail: ReportMail) => Promise<boolean>
  /** Takes news as if a webhook had brought them. */
  readonly takeNews: (news: readonly ProviderNews[]) => Promise<void>
  /** How long after the submission its reports come, in milliseconds; 500 unless given. */
  readonly afterMs?: number
}

/** What happens to mail to a simulated recipient. */
interface Behaviour {
  readonly outcome: Outcome
  readonly told: Told | null
  readonly more: 'complaint' | 'absence' | null
}

const taken: Outcome = {
  kind: 'accepted',
  reply: reply('final-dot', 250, '2.0.0', 'Taken by the simulator'),
  providerMessageId: null,
}
const delivered: Told = { action: 'delivered', status: '2.0.0', reply: '250 2.0.0 Delivered (simulated)' }
const onlyOutcome = (outcome: Outcome): Behaviour => ({ outcome, told: null, more: null })

const behaviours: Readonly<Record<string, Behaviour>> = {
  delivered: { outcome: taken, told: delivered, more: null },
  bounce: {
    outcome: taken,
    told: { action: 'failed', status: '5.1.1', reply: '550 5.1.1 No such user (simulated)' },
    more: null,
  },
  softbounce: {
    outcome: taken,
    told: { action: 'failed', status: '4.2.2', reply: '452 4.2.2 Mailbox full (simulated)' },
    more: null,
  },
  complaint: { outcome: taken, told: delivered, more: 'complaint' },
  ooto: { outcome: taken, told: delivered, more: 'absence' },
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

function reply(phase: Reply['phase'], code: number, enhancedCode: string, text: string): Reply {
  return { phase, code, enhancedCode, text }
}

/**
 * Keeps back what is for recipients at `simulator.test` and lets happen what their local part says, a `+tag` aside:
 * `delivered`, `bounce`, `softbounce`, `complaint`, `delay`, `reject`, `ooto` (an out-of-office answer). Reports come as
 * they would from outside: as mail to the reverse-path where that is ours, else as news of the provider.
 */
export function withSimulator(provider: Provider, use: Simulating): Provider {
  const { afterMs = 500 } = use
  const due = new Map<() => Promise<void>, Timer>()

  function later(tell: () => Promise<void>): void {
    const run = async () => {
      due.delete(run)
      await tell().catch((error: unknown) => use.log.error({ err: error }, 'could not take a simulated report'))
    }
    due.set(run, setTimeout(run, afterMs))
  }

  function report(submission: Submission, recipient: string, { told, more }: Behaviour): void {
    if (told === null) return
    const news = newsOf(submission, recipient, told, use.clock)
    later(() => tell(submission, notification(submission, recipient, told), news))
    if (more === 'complaint') later(() => tell(submission, complaint(submission, recipient), complaintNews(news)))
    if (more === 'absence') later(() => tell(submission, absence(submission, recipient), null))
  }

  async function tell(submission: Submission, mail: ReportMail, news: ProviderNews | null): Promise<void> {
    const isOurs = provider.traits.returnPath === 'ours' && submission.mailFrom !== ''
    if (!(isOurs && (await use.takeMail(mail))) && news) await use.takeNews([news])
  }

  return {
    traits: provider.traits,
    async submit(submission) {
      const own = submission.recipients.map(behaviourOf)
      const others = submission.recipients.filter((_, i) => own[i] === null)
      const elsewhere = others.length > 0 ? await provider.submit({ ...submission, recipients: others }) : []
      let next = 0
      return submission.recipients.map((recipient, i) => {
        const behaviour = own[i]
        if (!behaviour) return elsewhere[next++] ?? taken
        report(submission, recipient, behaviour)
        return behaviour.outcome
      })
    },
    trouble: () => provider.trouble(),
    async close() {
      const left = Array.from(due)
      for (const [, timer] of left) clearTimeout(timer)
      await Promise.all(left.map(([run]) => run()))
      await provider.close()
    },
  }
}

/** null: the recipient is a real one. */
function behaviourOf(recipient: string): Behaviour | null {
  const at = recipient.lastIndexOf('@')
  if (recipient.slice(at + 1).toLowerCase() !== simulatedDomain) return null
  const name = recipient.slice(0, at).toLowerCase().replace(/\+.*$/, '')
  return Object.hasOwn(behaviours, name) ? (behaviours[name] ?? unknown) : unknown
}

function newsOf({ emailId }: Submission, recipient: string, told: Told, clock: Clock): ProviderNews {
  const occurredAt = clock.now()
  const isBounce = told.action === 'failed'
  const type = told.status.startsWith('4') ? 'transient' : 'permanent'
  return {
    type: isBounce ? 'bounced' : 'delivered',
    emailId,
    recipient,
    occurredAt,
    key: `simulated ${told.action} ${emailId} ${recipient} ${toIso(occurredAt)}`,
    smtpCode: Number(told.reply.slice(0, 3)),
    enhancedCode: told.status,
    detail: told.reply,
    bounce: isBounce ? { type, scope: 'recipient' } : null,
    providerMessageId: null,
    wireMessageId: null,
  }
}

function complaintNews(news: ProviderNews): ProviderNews {
  return {
    ...news,
    type: 'complained',
    key: `${news.key} complained`,
    smtpCode: null,
    enhancedCode: null,
    detail: 'The recipient complained (simulated)',
  }
}
