import { textOf } from '../../sending/accept/text-of-html.ts'
import { replyTextOf } from '../messages/reply-text.ts'
import { quotableHtml, sanitizeHtml } from '../messages/sanitize-html.ts'
import { quoteInHtml, quoteInText } from '../reply/quotation.ts'
import { blockPostings } from '../search/segment.ts'
import { searchText } from '../search/tokenizer.ts'

/** What takes long when a text is long. Each depends on nothing but what it is given. */
export const textWork = {
  sanitizeHtml,
  quotableHtml,
  quoteInText,
  quoteInHtml,
  replyTextOf,
  searchText,
  blockPostings,
  textOf,
} as const satisfies Record<string, (text: string, ...more: never[]) => string | null>

export type TextWork = typeof textWork
export type TextWorkName = keyof TextWork
