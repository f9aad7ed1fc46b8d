import { sanitizeHtml } from './html.ts'
import { replyTextOf } from './reply-text.ts'
import { searchText } from './search-words.ts'

/** What takes long when a text is long. Each depends on nothing but what it is given. */
export const textWork = { sanitizeHtml, replyTextOf, searchText } as const satisfies Record<
  string,
  (text: string, ...more: never[]) => string | null
>

export type TextWork = typeof textWork
export type TextWorkName = keyof TextWork
