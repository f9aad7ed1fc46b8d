import type { Reservation } from '../api/idempotency/reservation.ts'
import type { Clock } from '../base/clock.ts'
import { batched } from '../base/concurrency/batch.ts'
import type { Db } from '../base/database/database.ts'
import { newId } from '../base/ids.ts'
import { counter, timed } from '../base/observability/metrics.ts'
import { refuse } from '../base/refusal.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import type { Accepted, Candidate, Consumed } from './accept/accepted.ts'
import { type OverQuota, recipientsOf } from './accept/checks.ts'
import { compose } from './accept/compose.ts'
import { openQueue } from './accept/enqueue.ts'
import { type Outgoing, readOutgoing, refuseBeyondLimits } from './accept/parse-request.ts'
import { type FindDomain, resolveFrom, type Sender } from './accept/resolve.ts'
import { findDomains, type SendingDomain } from './accept/table.ts'
import type { SendEmail } from './emails/schema.ts'
import type { OutlineLarge } from './emails/stored-content.ts'
import { newToken, unsubscribeFields } from './suppressions/unsubscribe-link.ts'
import { fillTemplate } from './templates/fill-template.ts'
import { openRendering, type Rendering } from './templates/rendering.ts'

/** What sending stands on. */
export interface SendingParts {
  readonly db: Db
  readonly blobs: Blobs
  readonly clock: Clock
  /** The name of the provider that will deliver. */
  readonly provider: string
  /** Where links in emails lead, such as `https://mail.example`. */
  readonly publicUrl: string
  /** After how long without news what is `sent` is shown as unconfirmed, in milliseconds; a day unless given. */
  readonly unconfirmedMs?: number
  /** Is there room on the disks for another email? There is where nothing is said. */
  readonly hasRoom?: () => boolean
  /** Takes large messages apart; absent: as small ones, on this thread. */
  readonly outlineLarge?: OutlineLarge
  /** Tells the relay that there is work; called after the commit. */
  readonly wake: () => void
}

/** Sending, ready for use: sends at the same time share their look-ups and commits. One for a process. */
export interface Sending extends SendingParts {
  readonly findDomain: FindDomain
  readonly enqueue: (send: Candidate) => Promise<Accepted>
  /** Its thread starts when a template is first used; whoever opened the sending closes it. */
  readonly rendering: Rendering
}

export function openSending(parts: SendingParts): Sending {
  const { db, blobs, clock, provider } = parts
  const findDomain = batched<Parameters<FindDomain>[0], SendingDomain | undefined>(
    { maxItems: 64, maxUnderWay: 1 },
    async names => {
      const found = await findDomains(db, names)
      return names.map(name =>
        found.find(each => each.organizationId === name.organizationId && each.domain === name.domain),
      )
    },
  )
  return {
    ...parts,
    findDomain: rememberReady(findDomain),
    enqueue: openQueue({ db, blobs, clock, provider }),
    rendering: openRendering(),
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

async function stage(bytes: Buffer, { organizationId }: Sender, blobs: Blobs): Promise<Candidate['message']> {
  if (bytes.length <= maxNewBytes) return { kind: 'new', bytes }
  const { id } = await blobs.store(organizationId, { kind: 'memory', bytes, size: bytes.length })
  return { kind: 'stored', blobId: id }
}

function filled(asked: Outgoing, template: NonNullable<Outgoing['template']>, domain: SendingDomain, use: Sending) {
  return timed('out', 'template', () => fillTemplate(asked, template, domain, use))
}

function withLink(outgoing: Outgoing, publicUrl: string, token: string): Outgoing {
  return { ...outgoing, headers: [...outgoing.headers, ...unsubscribeFields(publicUrl, token)] }
}

/** Somebody's wish to send an email. */
export interface SendRequest {
  readonly sender: Sender
  readonly fields: SendEmail
  readonly reservation?: Reservation | undefined
  /** The thread of the brand that it joins where what it refers to names none. */
  readonly threadId?: string
  /** The status of `quota_exceeded`; 402 where nothing is said. */
  readonly overQuota?: OverQuota
  /** What goes when the email is accepted. */
  readonly consumes?: Consumed
}

/** Accepts an email for delivery: what it gives is durable. @throws Refusal for whatever keeps it from being sent. */
export async function send(request: SendRequest, use: Sending): Promise<Accepted> {
  const { sender, fields, reservation, threadId, overQuota = 402, consumes } = request
  if (use.hasRoom?.() === false)
    throw refuse('unavailable', {
      message: 'There is no room for more emails at the moment; try again later.',
      retryAfterSeconds: 60,
    })
  const asked = readOutgoing(fields, use.clock.now())
  const domain = await timed('out', 'resolve', () => resolveFrom(asked.from, sender, use.findDomain))
  const outgoing = asked.template === null ? asked : await filled(asked, asked.template, domain, use)
  refuseBeyondLimits(outgoing)
  const emailId = newId('eml')
  const messageId = `${emailId.slice(4)}@${domain.domain}`
  const unsubscribeToken = outgoing.unsubscribe ? newToken() : null
  const linked = unsubscribeToken === null ? outgoing : withLink(outgoing, use.publicUrl, unsubscribeToken)
  const bytes = await timed('out', 'compose', async () => compose(linked, { emailId, messageId }))
  const message = await timed('out', 'stage', () => stage(bytes, sender, use.blobs))
  const recipients = recipientsOf(outgoing.recipients)
  const accepted = await timed('out', 'enqueue', () =>
    use.enqueue({
      emailId,
      messageId,
      sender,
      domain,
      outgoing,
      recipients,
      message,
      reservation,
      threadId,
      overQuota,
      unsubscribeToken,
      consumes,
    }),
  )
  acceptedTotal.inc()
  use.wake()
  return accepted
}
