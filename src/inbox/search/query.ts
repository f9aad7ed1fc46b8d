import { leadingCharacter, type Token, tokenize } from './tokenizer.ts'

/** What a text must hold: one word, words in this order with nothing between, or words that begin so. */
export type QueryClause =
  | { readonly kind: 'words'; readonly words: readonly [Token, ...Token[]] }
  /** A character of an undivided script, alone or at the head of a pair. */
  | { readonly kind: 'character'; readonly character: Token }

export interface SearchQuery {
  readonly required: readonly QueryClause[]
  readonly excluded: readonly QueryClause[]
}

/** Reads words, "phrases" and -exclusions; null when it asks for nothing (exclusions alone exclude from nothing). */
export function parseQuery(query: string): SearchQuery | null {
  const wanted: QueryClause[] = []
  const unwanted: QueryClause[] = []
  for (const [, minus, phrase, bare] of query.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)) {
    const asked = clauseOf(tokenize(phrase ?? bare ?? ''))
    if (asked) (minus ? unwanted : wanted).push(asked)
  }
  return wanted.length > 0 ? { required: wanted, excluded: unwanted } : null
}

function clauseOf(words: readonly Token[]): QueryClause | undefined {
  const last = words.at(-1)
  if (last === undefined) return undefined
  const isLone = leadingCharacter(last) === last
  if (isLone && words.length === 1) return { kind: 'character', character: last }
  // The text may go on where the query ends: there its last character stands in a pair, not alone.
  const [first = last, ...rest] = isLone ? words.slice(0, -1) : words
  return { kind: 'words', words: [first, ...rest] }
}

/** As a pattern of LIKE over words with a space before and after each. */
export function likePattern(asked: QueryClause): string {
  return asked.kind === 'character' ? `% ${asked.character}%` : `% ${asked.words.join(' ')} %`
}
