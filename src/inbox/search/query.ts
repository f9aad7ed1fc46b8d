import { leadingCharacter, type Token, tokenize } from './tokenizer.ts'

/** What a text must contain: words next to each other in this order, or a character of a script without spaces. */
export type QueryClause =
  | { readonly kind: 'words'; readonly words: readonly [Token, ...Token[]] }
  /** Alone, or as the first of a pair. */
  | { readonly kind: 'character'; readonly character: Token }

export interface SearchQuery {
  readonly required: readonly QueryClause[]
  readonly excluded: readonly QueryClause[]
}

/** Parses words, "phrases" and -exclusions; null when no word is required (exclusions alone exclude from nothing). */
export function parseQuery(query: string): SearchQuery | null {
  const required: QueryClause[] = []
  const excluded: QueryClause[] = []
  for (const [, minus, phrase, bare] of query.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)) {
    const clause = clauseOf(tokenize(phrase ?? bare ?? ''))
    if (clause) (minus ? excluded : required).push(clause)
  }
  return required.length > 0 ? { required, excluded } : null
}

function clauseOf(words: readonly Token[]): QueryClause | undefined {
  const last = words.at(-1)
  if (last === undefined) return undefined
  const isCharacter = leadingCharacter(last) === last
  if (isCharacter && words.length === 1) return { kind: 'character', character: last }
  // The text may go on where the query ends: there its last character stands in a pair, not alone.
  const [first = last, ...rest] = isCharacter ? words.slice(0, -1) : words
  return { kind: 'words', words: [first, ...rest] }
}

/** As a LIKE pattern over words with a space before and after each. */
export function likePattern(clause: QueryClause): string {
  return clause.kind === 'character' ? `% ${clause.character}%` : `% ${clause.words.join(' ')} %`
}
