import { refuse } from '../../base/refusal.ts'
import type { MessageSummary } from '../../mail/message.ts'

type Headers = Readonly<Record<string, string>>

/** The header fields that place a message in a thread. */
export type ThreadHeaders = Pick<MessageSummary, 'messageId' | 'inReplyTo' | 'references'>

/** The longest header field of an email, in characters (RFC 5322 §2.1.1). */
const maxFieldLength = 998
const maxIdLength = 250

/** In-Reply-To and References of a reply; without In-Reply-To if the message has no Message-ID. RFC 5322 §3.6.4. */
export function replyHeaders(message: ThreadHeaders): Headers {
  const parent = usableIds(message.messageId === null ? [] : [message.messageId])
  return { ...(parent.length > 0 ? { 'In-Reply-To': formatIds(parent) } : {}), ...referencesHeader(message) }
}

/** References of a forward: it is no reply, but belongs to the thread. */
export function forwardHeaders(message: ThreadHeaders): Headers {
  return referencesHeader(message)
}

function referencesHeader({ messageId, inReplyTo, references }: ThreadHeaders): Headers {
  const before = references.length > 0 || inReplyTo === null ? references : [inReplyTo]
  const ids = usableIds([...before, ...(messageId === null ? [] : [messageId])])
  return ids.length > 0 ? { References: formatIds(shortenedReferences(ids)) } : {}
}

/** The ids that fit into a header field of ours, each once. */
function usableIds(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.filter(id => id.length <= maxIdLength && /^[!-;=?-~]+$/.test(id)))]
}

/** The first, which began the thread, and as many of the last as fit. */
function shortenedReferences(ids: readonly string[]): readonly string[] {
  const [first = '', ...rest] = ids
  const last: string[] = []
  let length = first.length + 2
  for (const id of rest.toReversed()) {
    length += id.length + 3
    if (length > maxFieldLength) break
    last.unshift(id)
  }
  return [first, ...last]
}

function formatIds(ids: readonly string[]): string {
  return ids.map(id => `<${id}>`).join(' ')
}

const threadFields = new Set(['in-reply-to', 'references'])

/** @throws Refusal invalid_request when the request has a header that follows from the message */
export function requireNoThreadHeaders(headers: Headers | undefined): void {
  const name = Object.keys(headers ?? {}).find(field => threadFields.has(field.toLowerCase()))
  if (name !== undefined)
    throw refuse('invalid_request', {
      message: `headers.${name}: this header follows from the message and cannot be given.`,
      param: `headers.${name}`,
    })
}

/** Do these headers mark a reply as automatic? RFC 3834 §5. */
export function isAutomaticReply(headers: Headers = {}): boolean {
  return Object.entries(headers).some(([name, value]) => name.toLowerCase() === 'auto-submitted' && isAuto(value))
}

/** Does a message's header ask for no automatic replies? RFC 3834 §2. */
export function refusesAutomaticReplies(headers: MessageSummary['headers']): boolean {
  return headers.some(({ name, value }) => {
    switch (name.toLowerCase()) {
      case 'auto-submitted':
        return isAuto(value)
      case 'precedence':
        return /^(?:bulk|junk|list)\b/i.test(value)
      case 'list-id':
        return true
      default:
        return false
    }
  })
}

function isAuto(value: string): boolean {
  return !/^\s*no\s*(?:[;(]|$)/i.test(value)
}
