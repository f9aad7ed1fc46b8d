import type { Caller } from '../../api/caller.ts'
import { Refusal } from '../../base/refusal.ts'
import { formatAddress } from '../../mail/address.ts'
import { effectiveScan, isHarmless, requireClean } from '../messages/download.ts'
import { requireMessage } from '../messages/messages.ts'
import { readStoredSummary } from '../messages/stored-message.ts'
import { refusesAutomaticReplies } from './headers.ts'
import { type ReplyAudience, recipientsOf, requireRepliable } from './reply.ts'
import type { ReplyDeps } from './reply-sender.ts'
import { forwardSubject, replySubject } from './subject.ts'

/** Why a message cannot be answered, or forwarded. */
export interface PreviewedRefusal {
  readonly code: string
  readonly message: string
}

/** What a reply to a message and a forward of it would be, before anything is sent. */
export interface ReplyPreview {
  /** The address that received the message, from which a reply goes unless another is given. */
  readonly from: string
  readonly subject: string
  readonly forward_subject: string
  readonly reply: { readonly to: string[]; readonly cc: string[] }
  readonly reply_all: { readonly to: string[]; readonly cc: string[] }
  /** Is the message quoted below a reply? */
  readonly is_quoted: boolean
  /** Did it come through a mailing list, or from a program? */
  readonly is_automatic: boolean
  readonly reply_refusal: PreviewedRefusal | null
  readonly forward_refusal: PreviewedRefusal | null
}

/** Whom a reply to the message would go to, by the same rules as the reply itself. @throws Refusal not_found, brand_restricted */
export async function previewReply(
  deps: Pick<ReplyDeps, 'db' | 'blobs' | 'texts'>,
  caller: Caller,
  id: string,
): Promise<ReplyPreview> {
  const message = await requireMessage(deps.db, caller, id)
  const summary = await readStoredSummary(deps, message)
  const scan = effectiveScan(message)
  const recipients = async (audience: ReplyAudience) => {
    const { to, cc } = await recipientsOf(deps, message, summary, { audience, from: message.rcpt_to })
    return { to: to.map(formatAddress), cc: cc.map(formatAddress) }
  }
  return {
    from: message.rcpt_to,
    subject: replySubject(summary.subject),
    forward_subject: forwardSubject(summary.subject),
    reply: await recipients('author'),
    reply_all: await recipients('all'),
    is_quoted: isHarmless(scan),
    is_automatic: refusesAutomaticReplies(summary.headers),
    reply_refusal: refusalOf(() => requireRepliable(message, summary, {})),
    forward_refusal: refusalOf(() => requireClean(scan)),
  }
}

function refusalOf(check: () => void): PreviewedRefusal | null {
  try {
    check()
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { code: error.code, message: error.message }
  }
}
