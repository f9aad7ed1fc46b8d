import { refuse } from '../../base/refusal.ts'
import type { MessageSummary } from '../../mail/message.ts'

type Headers = Readonly<Record<string, string>>

/** What a message says of its place in a thread. */
export type ThreadHeaders = Pick<MessageSummary, 'messageId' | 'inReplyTo' | 'references'>

/** The most that a header field of an email holds, in characters. */
const maxValue = 998
const maxIdentifier = 250

/** In-Reply-To and References of a reply; absent where the message has no Message-ID. RFC 5322 §3.6.4. */
export function replyHeaders(message: ThreadHeaders): Headers {
  const parent = usable(message.messageId === null ? [] : [message.messageId])
  return { ...(parent.length > 0 ? { 'In-Reply-To': listed(parent) } : {}), ...referring(message) }
}

/** A forwarded message is no reply, but belongs to the thread. */
export function forwardHeaders(message: ThreadHeaders): Headers {
  return referring(message)
}

function referring({ messageId, inReplyTo, references }: ThreadHeaders): Headers {
  const before = references.length > 0 || inReplyTo === null ? references : [inReplyTo]
  const ids = usable([...before, ...(messageId === null ? [] : [messageId])])
  return ids.length > 0 ? { References: listed(shortened(ids)) } : {}
}

/** Those that a header of ours can hold. */
function usable(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.filter(id => id.length <= maxIdentifier && /^[!-;=?-~]+$/.test(id)))]
}

/** The first, which begins the thread, and as many of the nearest as there is room for. */
function shortened(ids: readonly string[]): readonly string[] {
  const [first = '', ...others] = ids
  const nearest: string[] = []
  let length = first.length + 2
  for (const id of others.toReversed()) {
    length += id.length + 3
    if (length > maxValue) break
    nearest.unshift(id)
  }
  return [first, ...nearest]
}

function listed(ids: readonly string[]): string {
  return ids.map(id => `<${id}>`).join(' ')
}

const ours = new Set(['in-reply-to', 'references'])

/** @throws Refusal invalid_request where the sender gives a header that follows from the message */
export function requireNoThreadHeaders(headers: Headers | undefined): void {
  const name = Object.keys(headers ?? {}).find(value => ours.has(value.toLowerCase()))
  if (name !== undefined)
    throw refuse('invalid_request', {
      message: `headers.${name}: this header is set by the service, from the message that is answered.`,
      param: `headers.${name}`,
    })
}

/** Does a reply with these headers say that no person wrote it? RFC 3834 §5. */
export function isAutomaticReply(headers: Headers = {}): boolean {
  return Object.entries(headers).some(([name, value]) => name.toLowerCase() === 'auto-submitted' && isAuto(value))
}

/** Does a message's header say that no automatic answer is wanted? RFC 3834 §2. */
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
