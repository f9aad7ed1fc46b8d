import type { MessageSource } from '../../mail/message-source.ts'

/** A message as it came over SMTP, for the filter. */
export interface SpamFilterInput {
  /** The transaction's id, for the filter's log. */
  readonly id: string
  readonly content: MessageSource
  readonly remoteIp: string
  /** The client's name in DNS, forward-confirmed (RFC 8601 §3: iprev); null: it has none. */
  readonly clientName: string | null
  readonly helo: string
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  readonly recipients: readonly string[]
}

/** A rule of the filter that the message met, and what that adds to its score. */
export interface SpamSymbol {
  readonly name: string
  readonly score: number
}

/** What the filter found. */
export interface SpamFindings {
  /** It asks to file the message as spam. */
  readonly isSpam: boolean
  readonly score: number
  /** The score from which it asks for that. */
  readonly required: number
  /** Those that weigh most come first; at most {@link maxSymbols}. */
  readonly symbols: readonly SpamSymbol[]
}

/** The result of a check. Every failure, limit or doubt is `unchecked`, which is no reason for or against a message. */
export type SpamCheck =
  | ({ readonly kind: 'checked' } & SpamFindings)
  /** `why`: for operators. `isUnavailable`: the filter did not answer; false: it cannot check this message. */
  | { readonly kind: 'unchecked'; readonly why: string; readonly isUnavailable: boolean }

/** What a person said of a message by moving it. */
export type SpamLesson = 'spam' | 'ham'

/** A stored message: its size, and its bytes, which are read at most once. */
export interface LessonContent {
  readonly size: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** What came of a lesson. */
export type LessonResult =
  /** The filter learned it, or had learned it before. */
  | { readonly kind: 'learned' }
  /** It will never learn from this message, such as when there is too little text in it. `why`: for operators. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It did not answer, or refuses us; the same may succeed later. */
  | { readonly kind: 'unavailable'; readonly why: string }

export const maxSymbols = 100

/**
 * Judges by its content whether a message is spam, and learns from what people say.
 *
 * An adapter
 * - never rejects for what the filter does: that is `unchecked`, `unavailable`;
 * - limits how many checks run at once; the others wait, within the time limit of the check;
 * - stops asking while the filter does not answer, so that no message waits for it twice, and goes on once it answers;
 * - streams the content to the filter: memory does not grow with its size.
 */
export interface SpamFilter {
  check(mail: SpamFilterInput): Promise<SpamCheck>
  /** Teaches it one message; null: this filter is not set up to learn. */
  readonly learn: ((lesson: SpamLesson, content: LessonContent, signal: AbortSignal) => Promise<LessonResult>) | null
  /** Does it answer now? For readiness. Never rejects. */
  isReady(): Promise<boolean>
}
