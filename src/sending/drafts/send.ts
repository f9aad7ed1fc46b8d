import type { Reservation } from '../../api/idempotency/reservation.ts'
import { fromJson } from '../../base/database/schema.ts'
import { Refusal, refuse } from '../../base/refusal.ts'
import { splitAddress } from '../../mail/address.ts'
import type { AcceptedEmail } from '../accept/accepted-response.ts'
import type { SingleUseItem } from '../accept/candidate.ts'
import { acceptanceRefusals } from '../accept/checks.ts'
import type { SendDeps } from '../accept/open-sending.ts'
import { readAddress, readAddresses } from '../accept/recipients.ts'
import { fromRefusals } from '../accept/resolve.ts'
import type { AuthorizedSender } from '../accept/sender.ts'
import type { SendEmail } from '../emails/schema.ts'
import { send } from '../send.ts'
import type { ReceivedMessages, ReplyContext } from './deps.ts'
import { draftRefusals, requireDraft } from './drafts.ts'
import { type DraftRow, deleteDraft, lockUnchangedDraft } from './table.ts'

export interface DraftSendDeps {
  readonly sending: SendDeps
  readonly received: ReceivedMessages
}

/** How a draft is sent. */
export interface DraftSendOptions {
  /** ISO 8601, at most 30 days ahead; undefined: at once. */
  readonly scheduledAt?: string | undefined
  readonly reservation?: Reservation | undefined
}

const maxTries = 5

/** The refusals of {@link sendDraft}. */
export const sendDraftRefusals = [
  ...draftRefusals,
  'draft_incomplete',
  ...fromRefusals,
  'too_many_recipients',
  ...acceptanceRefusals,
] as const

/**
 * Sends a draft: the transaction that accepts the email deletes the draft, so that of several requests one sends it. When
 * the draft is changed meanwhile, the changed draft is sent.
 * @throws Refusal `not_found`, `draft_incomplete`, `from_not_allowed`, and those of a send
 */
export async function sendDraft(
  deps: DraftSendDeps,
  sender: AuthorizedSender,
  id: string,
  { scheduledAt, reservation }: DraftSendOptions = {},
): Promise<AcceptedEmail> {
  const schedule = scheduledAt === undefined ? {} : { scheduled_at: scheduledAt }
  for (let attempt = 1; ; attempt++) {
    const draft = await requireDraft(deps.sending.db, sender, id)
    const fields = readComplete(draft)
    const reply = await loadReplyContext(deps, draft, fields)
    const email = { ...fields, ...schedule, ...(reply ? { headers: { ...reply.headers } } : {}) }
    const threadId = reply ? { threadId: reply.threadId } : {}
    const consumes = singleUse(draft)
    try {
      return await send({ sender, fields: email, reservation, ...threadId, quotaStatus: 422, consumes }, deps.sending)
    } catch (error) {
      if (!(error instanceof DraftChangedError)) throw error
      if (attempt === maxTries) throw error
    }
  }
}

/** The draft has been sent, deleted or changed since it was read. */
class DraftChangedError extends Refusal {}

function singleUse(draft: DraftRow): SingleUseItem {
  return {
    id: draft.id,
    lock: db => lockUnchangedDraft(db, draft),
    refuse: () =>
      new DraftChangedError('not_found', {
        message: `The draft ${draft.id} was sent, deleted or changed at the same time.`,
      }),
    remove: db => deleteDraft(db, draft),
  }
}

/** The draft as a request to send. @throws Refusal `draft_incomplete`, which names what is missing or not an address */
function readComplete(draft: DraftRow): SendEmail {
  const { from_header: from, subject, text } = draft
  const to = [...fromJson(draft.to_addresses)]
  const cc = [...fromJson(draft.cc_addresses)]
  const bcc = [...fromJson(draft.bcc_addresses)]
  const replyTo = [...fromJson(draft.reply_to)]
  if (from === null) throw incomplete('from', 'from: the draft has no sender yet.')
  if (to.length === 0) throw incomplete('to', 'to: the draft has no recipient yet.')
  if (subject === null) throw incomplete('subject', 'subject: the draft has no subject yet.')
  if (text === null) throw incomplete('text', 'text: the draft has no text yet.')
  asIncomplete(() => {
    readAddress(from, 'from')
    for (const [param, addresses] of Object.entries({ to, cc, bcc, reply_to: replyTo })) readAddresses(addresses, param)
  })
  return { from, to, cc, bcc, reply_to: replyTo, subject, text }
}

/** What would be an invalid request to send is an incomplete draft. */
function asIncomplete(read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw refuse('draft_incomplete', error.detail)
  }
}

function incomplete(param: string, message: string): Refusal {
  return refuse('draft_incomplete', { message, param })
}

/** @throws Refusal `from_not_allowed` where the message belongs to another brand than From */
async function loadReplyContext(
  { sending, received }: DraftSendDeps,
  { organization_id: organizationId, in_reply_to: id }: DraftRow,
  { from }: SendEmail,
): Promise<ReplyContext | undefined> {
  const reply = id === null ? undefined : await received.replyContext(organizationId, id)
  if (!reply) return undefined
  const { domain } = splitAddress(readAddress(from, 'from').address)
  const found = await sending.findDomain({ organizationId, domain })
  if (found && found.brandId !== reply.brandId)
    throw refuse('from_not_allowed', {
      message: `from: ${domain} belongs to another brand than the message ${id}.`,
      param: 'from',
    })
  return reply
}
