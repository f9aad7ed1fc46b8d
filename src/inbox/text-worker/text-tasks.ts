import { textAlternative } from '../../sending/compose/text-alternative.ts'
import { replyTextOf } from '../messages/reply-text.ts'
import { quoteInHtml, quoteInText } from '../reply/quotation.ts'
import { sanitizeHtml, sanitizeQuotedHtml } from '../sanitize-html/sanitize-html.ts'
import { searchableHtmlText } from '../search/searchable-text.ts'
import { buildPostings } from '../search/segment.ts'
import { toSearchText } from '../search/tokenizer.ts'

/** Tasks that take long when a text is long. Each depends on nothing but its arguments. */
export const textTasks = {
  sanitizeHtml,
  sanitizeQuotedHtml,
  quoteInText,
  quoteInHtml,
  replyTextOf,
  searchableHtmlText,
  toSearchText,
  buildPostings,
  textAlternative,
} as const satisfies Record<string, (text: string, ...more: never[]) => string | Uint8Array | null>

export type TextTasks = typeof textTasks
export type TextTaskName = keyof TextTasks
