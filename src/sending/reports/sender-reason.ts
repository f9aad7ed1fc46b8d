import { findReply } from '../../mail/reports/enhanced-status.ts'
import { oneLine } from '../../mail/text.ts'
import { aboutSender, senderReason } from './bounce-reasons.ts'
import { maskAddresses } from './masked-text.ts'

/** What a report says in words, and by which names it may mean the sender. */
export interface Notice {
  /** All that the report says in words. */
  readonly text: string
  /** Addresses, domains and hosts of the sender, lower case, none of them the recipient's. */
  readonly senderNames: readonly string[]
}

const maxReason = 500

/**
 * The line of a report that gives a reason about the sender, its host, the content or a policy; null: there is none.
 * It outweighs `User unknown` elsewhere in the same report, which sendmail as a relay writes under any refusal.
 */
export function findSenderReason({ text, senderNames }: Notice): string | null {
  const replies = repliesIn(text)
  const reply = replies.find(line => aboutSender.test(maskAddresses(line)) || namesSender(line, senderNames))
  if (reply !== undefined) return clean(reply)
  const words = withoutHeaderFields(text)
  const line = words.split('\n').find(other => senderReason.test(maskAddresses(other)))
  if (line !== undefined) return clean(line)
  // A sentence may be wrapped.
  const match = senderReason.exec(maskAddresses(words))
  return match && clean(match[0])
}

function clean(reason: string): string {
  return oneLine(reason.replace(/^[\s<>]*|^\s*\(reason: /g, '')).slice(0, maxReason)
}

const maxReplies = 40
const maxReplyLines = 6
const replyEnd = /^\s*$|^\s*(?:>>>|<<<|\.\.\.|-{3})/

/** The permanent replies that a text quotes, from their code on, with the lines that continue them. */
function repliesIn(text: string): readonly string[] {
  const lines = text.split('\n')
  const replies: string[] = []
  for (let i = 0; i < lines.length && replies.length < maxReplies; i++) {
    const line = lines[i] ?? ''
    const reply = findReply(line)
    if (reply === null || reply.code < 500) continue
    const following: string[] = []
    for (let next = i + 1; next < lines.length && following.length < maxReplyLines; next++) {
      const continued = lines[next] ?? ''
      if (replyEnd.test(continued) || findReply(continued) !== null) break
      following.push(continued)
    }
    replies.push([line.slice(reply.at), ...following].join('\n'))
  }
  return replies
}

/** A permanent reply of the next server in the transcript of sendmail; 503 only follows from an earlier one. */
const transcriptReply = /^[ \t]*<<<[ \t]*(5(?!03)\d\d)[ -][^\n]*(?:\n[ \t]*<<<[ \t]*\1[ -][^\n]*){0,10}/gm

/**
 * The permanent replies of the next server that a transcript has, each on one line. Below them sendmail writes its own
 * `550 5.1.1 User unknown` or `501 5.1.3`, whatever they say.
 */
export function findTranscriptReplies(text: string): readonly string[] {
  const replies = Array.from(text.matchAll(transcriptReply), ([reply]) => clean(reply.replace(/<<</g, ' ')))
  return replies.slice(0, maxReplies)
}

/** Does a server's reply name the sender, its domain or its host, other than in what it logged of the transaction? */
function namesSender(reply: string, senderNames: readonly string[]): boolean {
  const text = reply.toLowerCase().replace(/\b(?:from|to|helo|orig_to)=<[^>\n]{0,320}>/g, ' ')
  return senderNames.some(name => {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
      if (
        !/[\w.-]/.test(text.charAt(at - 1)) &&
        !/^(?:[\w-]|\.\w)/.test(text.slice(at + name.length, at + name.length + 2))
      )
        return true
    return false
  })
}

const headerField =
  /^[ \t]*(?:dkim-signature|arc-[a-z-]+|authentication-results|received(?:-spf)?|x-[\w-]+|return-path|message-id|list-[a-z-]+|content-[a-z-]+):.*(?:\n[ \t]+.*){0,30}/gim

/** Reports also list the header of the returned message, which has results of checks that passed. */
function withoutHeaderFields(text: string): string {
  return text.replace(headerField, '')
}
