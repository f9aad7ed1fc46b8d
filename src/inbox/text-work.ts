import { textOf } from '../sending/text-of-html.ts'
import { quotableHtml, sanitizeHtml } from './html.ts'
import { quoteInHtml, quoteInText } from './quotation.ts'
import { replyTextOf } from './reply-text.ts'
import { blockPostings } from './search-block.ts'
import { searchText } from './search-words.ts'

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
