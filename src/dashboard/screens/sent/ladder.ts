/** What the API says of an email, as far as its ladder needs it (`GET /v1/emails/{id}`). */
export interface LadderEmail {
  readonly recipients: readonly LadderRecipient[]
  /** Oldest first. */
  readonly events: readonly LadderEvent[]
}

interface LadderRecipient {
  readonly email: string
  readonly status: string
  /** Since when it has the status. */
  readonly updated_at: string
}

/** An event of the API: the evidence for a rung. */
export interface LadderEvent {
  readonly id: string
  readonly type: string
  /** null: the email as a whole. */
  readonly recipient: string | null
  readonly occurred_at: string
  readonly source: Exclude<EvidenceSource, 'submission'>
  readonly smtp_code: number | null
  readonly enhanced_code: string | null
  readonly detail: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** `submission`: a program submitted the email by SMTP; `smtp`: the relay replied. */
export type EvidenceSource = 'api' | 'submission' | 'smtp' | 'provider_webhook' | 'dsn' | 'inbound'

/** The events of an email before the relay has it. */
const acceptanceTypes: ReadonlySet<string> = new Set(['queued', 'scheduled', 'suppressed'])

export const rungNames = ['accepted', 'handed_over', 'taken', 'answered'] as const
export type RungName = (typeof rungNames)[number]

/** Statuses that end on no rung. */
export type OffLadder = 'bounced' | 'complained' | 'suppressed' | 'rejected' | 'failed' | 'canceled'

/**
 * What is known of a rung. Only `proven` has evidence that it was reached:
 * - `delayed`: an attempt failed, and another is to come
 * - `waiting`: it is the next one
 * - `unconfirmed`: it was the next one, and nobody told us for long
 * - `implied`: no evidence of its own, but a later rung has some
 * - `missed`: the recipient left the ladder before
 * - `open`: nothing is known, and nothing is expected yet
 */
export type RungState = 'proven' | 'delayed' | 'waiting' | 'unconfirmed' | 'implied' | 'missed' | 'open'

/** Something that was observed, and by whom. */
export interface Evidence {
  readonly at: string
  readonly source: EvidenceSource
  /** As it was observed: code, enhanced code and text of a reply; null: it has no words. */
  readonly line: string | null
  /** The relay may have taken a copy at an attempt whose end nobody saw. */
  readonly isAmbiguous: boolean
}

export interface Rung {
  readonly name: RungName
  readonly state: RungState
  /** Oldest first: the first proves the rung, or is why it is delayed; empty otherwise. */
  readonly evidence: readonly Evidence[]
}

export interface Ladder {
  readonly recipient: string
  readonly status: string
  readonly rungs: readonly Rung[]
  /** Where the recipient left the ladder, below the last rung that was reached; null: they are on it. */
  readonly off: { readonly status: OffLadder; readonly evidence: readonly Evidence[] } | null
}

export interface LadderOptions {
  /** Milliseconds since 1970. */
  readonly now: number
  /** A `sent` recipient without a report for so long is unconfirmed. */
  readonly unconfirmedAfterHours: number
  /** The authors of received replies, by the id of the message; absent: not known. */
  readonly authors?: ReadonlyMap<string, string>
}

const offLadder: ReadonlySet<string> = new Set<OffLadder>([
  'bounced',
  'complained',
  'suppressed',
  'rejected',
  'failed',
  'canceled',
])
const hourMs = 3_600_000

/** A ladder for each recipient of an email, in their order. Pure. */
export function ladders(email: LadderEmail, options: LadderOptions): readonly Ladder[] {
  return email.recipients.map(recipient => ladderOf(recipient, email, options))
}

function ladderOf(recipient: LadderRecipient, email: LadderEmail, options: LadderOptions): Ladder {
  const events = email.events.filter(event => concerns(event, recipient, email, options.authors))
  const proofs = provenRungs(events)
  const reached = rungNames.findLastIndex(name => proofs[name].length > 0)
  const delays = events.filter(({ type }) => type === 'delayed').map(toEvidence)
  const off = isOff(recipient.status) ? offEvidence(recipient.status, events) : null
  const rungs = rungNames.map((name, position): Rung => {
    const evidence = proofs[name].map(toEvidence)
    if (evidence.length > 0) return { name, state: 'proven', evidence }
    if (position < reached) return { name, state: 'implied', evidence }
    if (off) return { name, state: 'missed', evidence }
    if (position > reached + 1 || name === 'answered') return { name, state: 'open', evidence }
    if (recipient.status === 'delayed') return { name, state: 'delayed', evidence: delays }
    return { name, state: isUnconfirmed(recipient, options) ? 'unconfirmed' : 'waiting', evidence }
  })
  return { recipient: recipient.email, status: recipient.status, rungs, off }
}

function isOff(status: string): status is OffLadder {
  return offLadder.has(status)
}

function isUnconfirmed({ status, updated_at }: LadderRecipient, { now, unconfirmedAfterHours }: LadderOptions) {
  return status === 'sent' && now - Date.parse(updated_at) >= unconfirmedAfterHours * hourMs
}

/** Is the event about this recipient? A reply is where its author is known to be them, or nobody else got the email. */
function concerns(
  { recipient: of, type, data }: LadderEvent,
  { email }: LadderRecipient,
  { recipients }: LadderEmail,
  authors: LadderOptions['authors'],
): boolean {
  if (of !== null) return of.toLowerCase() === email.toLowerCase()
  if (type !== 'replied' || recipients.length === 1) return true
  const id = data['message_id']
  return typeof id === 'string' && authors?.get(id)?.toLowerCase() === email.toLowerCase()
}

/** The events that prove each rung. `sent` never proves that the recipient's server took it. */
function provenRungs(events: readonly LadderEvent[]): Readonly<Record<RungName, readonly LadderEvent[]>> {
  const ofTypes = (...types: readonly string[]) => events.filter(({ type }) => types.includes(type))
  return {
    accepted: ofTypes('queued', 'scheduled').slice(0, 1),
    // A report that the relay wrote after it had the message is no second hand-over.
    handed_over: ofTypes('sent').toSorted((a, b) => Number(b.source === 'smtp') - Number(a.source === 'smtp')),
    taken: ofTypes('delivered'),
    answered: ofTypes('replied'),
  }
}

function offEvidence(status: OffLadder, events: readonly LadderEvent[]) {
  return { status, evidence: events.filter(({ type }) => type === status).map(toEvidence) }
}

/** What an event says, as evidence. */
export function toEvidence(event: LadderEvent): Evidence {
  const { type, occurred_at, source, smtp_code, enhanced_code, detail, data } = event
  return {
    at: occurred_at,
    source: source === 'smtp' && smtp_code === null && acceptanceTypes.has(type) ? 'submission' : source,
    line: literalLine([smtp_code, enhanced_code], detail ?? ''),
    isAmbiguous: data['ambiguous'] === true,
  }
}

/** Reports quote the whole reply, its codes included; of a reply that we got ourselves the codes stand apart. */
function literalLine(codes: readonly (string | number | null)[], detail: string): string | null {
  const quoted = detail.split(' ', codes.length)
  const missing = codes.filter(code => code !== null && !quoted.includes(String(code)))
  return [...missing, detail].filter(part => part !== '').join(' ') || null
}
