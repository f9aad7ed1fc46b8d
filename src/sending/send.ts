import type { Reservation } from '../api/idempotency/reservation.ts'
import type { Clock } from '../base/clock.ts'
import { batched } from '../base/concurrency/batch.ts'
import type { Db } from '../base/database/database.ts'
import { newId } from '../base/ids.ts'
import { counter, timed } from '../base/observability/metrics.ts'
import { refuse } from '../base/refusal.ts'
import type { BlobStore } from '../ports/blobs/port.ts'
import { openQueue } from './accept/accept.ts'
import type { AcceptedEmail, SendCandidate, SingleUseItem } from './accept/accepted.ts'
import { acceptanceRefusals, envelopeRecipients, type QuotaStatus } from './accept/checks.ts'
import { compose } from './accept/compose.ts'
import { limitRefusals, type OutgoingEmail, parseSendRequest, requireWithinLimits } from './accept/parse-request.ts'
import { type AuthorizedSender, type FindDomain, fromRefusals, resolveFrom } from './accept/resolve.ts'
import { type SendingDomain, selectDomainsByName } from './accept/table.ts'
import type { SendEmail } from './emails/schema.ts'
import type { ParseLargeMessage } from './emails/stored-content.ts'
import { newUnsubscribeToken, unsubscribeHeaders } from './suppressions/unsubscribe-link.ts'
import { fillTemplate, fillTemplateRefusals } from './templates/fill-template.ts'
import { openTemplateRenderer, type TemplateRenderer } from './templates/renderer.ts'

/** What sending stands on. */
export interface SendingOptions {
  readonly db: Db
  readonly blobs: BlobStore
  readonly clock: Clock
  /** The name of the provider that will deliver. */
  readonly provider: string
  /** Where links in emails lead, such as `https://mail.example`. */
  readonly publicUrl: string
  /** After how long without news what is `sent` is shown as unconfirmed, in milliseconds; a day unless given. */
  readonly unconfirmedMs?: number
  /** Is there room on the disks for another email? There is where nothing is said. */
  readonly hasDiskSpace?: () => boolean
  /** Takes large messages apart; absent: as small ones, on this thread. */
  readonly parseLargeMessage?: ParseLargeMessage
  /** Tells the relay that there is work; called after the commit. */
  readonly wake: () => void
}

/** Sending, ready for use: sends at the same time share their look-ups and commits. One for a process. */
export interface SendDeps extends SendingOptions {
  readonly findDomain: FindDomain
  readonly enqueue: (send: SendCandidate) => Promise<AcceptedEmail>
  /** Its thread starts when a template is first used; whoever opened the sending closes it. */
  readonly rendering: TemplateRenderer
}

export function openSending(parts: SendingOptions): SendDeps {
  const { db, blobs, clock, provider } = parts
  const findDomain = batched<Parameters<FindDomain>[0], SendingDomain | undefined>(
    { maxItems: 64, maxInFlight: 1 },
    async names => {
      const found = await selectDomainsByName(db, names)
      return names.map(name =>
        found.find(
          sendingDomain => sendingDomain.organizationId === name.organizationId && sendingDomain.domain === name.domain,
        ),
      )
    },
  )
  return {
    ...parts,
    findDomain: rememberReady(findDomain),
    enqueue: openQueue({ db, blobs, clock, provider }),
    rendering: openTemplateRenderer(),
  }
}

const rememberedMs = 1000
const maxRemembered = 10_000

/**
 * Remembers for a second which domain a name is, once it is ready: sends come in runs. Whether it still is ready, the gate
 * sees in the transaction that accepts the email.
 */
function rememberReady(find: FindDomain): FindDomain {
  const remembered = new Map<string, { readonly domain: SendingDomain; readonly until: number }>()
  return async name => {
    const key = `${name.organizationId} ${name.domain}`
    const known = remembered.get(key)
    if (known && known.until > performance.now()) return known.domain
    const domain = await find(name)
    if (remembered.size >= maxRemembered) remembered.clear()
    if (domain?.status === 'verified') remembered.set(key, { domain, until: performance.now() + rememberedMs })
    else remembered.delete(key)
    return domain
  }
}

const acceptedTotal = counter('mailroom_emails_accepted_total', 'Emails accepted for delivery.')

/** Larger messages are stored before the transaction that accepts them, so that it stays short. */
const maxNewBytes = 128 * 1024

async function stage(
  bytes: Buffer,
  { organizationId }: AuthorizedSender,
  blobs: BlobStore,
): Promise<SendCandidate['message']> {
  if (bytes.length <= maxNewBytes) return { kind: 'new', bytes }
  const { id } = await blobs.store(organizationId, { kind: 'memory', bytes, size: bytes.length })
  return { kind: 'stored', blobId: id }
}

function filled(
  asked: OutgoingEmail,
  template: NonNullable<OutgoingEmail['template']>,
  domain: SendingDomain,
  deps: SendDeps,
) {
  return timed('out', 'template', () => fillTemplate(asked, template, domain, deps))
}

function withLink(outgoing: OutgoingEmail, publicUrl: string, token: string): OutgoingEmail {
  return { ...outgoing, headers: [...outgoing.headers, ...unsubscribeHeaders(publicUrl, token)] }
}

/** Somebody's wish to send an email. */
export interface SendRequest {
  readonly sender: AuthorizedSender
  readonly fields: SendEmail
  readonly reservation?: Reservation | undefined
  /** The thread of the brand that it joins where what it refers to names none. */
  readonly threadId?: string
  /** The status of `quota_exceeded`; 402 where nothing is said. */
  readonly quotaStatus?: QuotaStatus
  /** What goes when the email is accepted. */
  readonly consumes?: SingleUseItem
}

/** The refusals of {@link send}. */
export const sendRefusals = [...fromRefusals, ...fillTemplateRefusals, ...limitRefusals, ...acceptanceRefusals] as const

/** Accepts an email for delivery: what it gives is durable. @throws Refusal for whatever keeps it from being sent. */
export async function send(request: SendRequest, deps: SendDeps): Promise<AcceptedEmail> {
  const { sender, fields, reservation, threadId, quotaStatus = 402, consumes } = request
  if (deps.hasDiskSpace?.() === false)
    throw refuse('unavailable', {
      message: 'There is no room for more emails at the moment; try again later.',
      retryAfterSeconds: 60,
    })
  const asked = parseSendRequest(fields, deps.clock.now())
  const domain = await timed('out', 'resolve', () => resolveFrom(asked.from, sender, deps.findDomain))
  const outgoing = asked.template === null ? asked : await filled(asked, asked.template, domain, deps)
  requireWithinLimits(outgoing)
  const emailId = newId('eml')
  const messageId = `${emailId.slice(4)}@${domain.domain}`
  const unsubscribeToken = outgoing.unsubscribe ? newUnsubscribeToken() : null
  const linked = unsubscribeToken === null ? outgoing : withLink(outgoing, deps.publicUrl, unsubscribeToken)
  const bytes = await timed('out', 'compose', async () => compose(linked, { emailId, messageId }))
  const message = await timed('out', 'stage', () => stage(bytes, sender, deps.blobs))
  const recipients = envelopeRecipients(outgoing.recipients)
  const accepted = await timed('out', 'enqueue', () =>
    deps.enqueue({
      emailId,
      messageId,
      sender,
      domain,
      outgoing,
      recipients,
      message,
      reservation,
      threadId,
      quotaStatus,
      unsubscribeToken,
      consumes,
    }),
  )
  acceptedTotal.inc()
  deps.wake()
  return accepted
}
