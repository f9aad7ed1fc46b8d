/** What a search looks for, as the server reads it. */
export interface ExplainedSearch {
  /** Words that must all occur. */
  readonly words: readonly string[]
  /** Words that must occur next to each other. */
  readonly phrases: readonly string[]
  /** Words and phrases that must not occur. */
  readonly without: readonly string[]
  /** Is there anything to search for? What only excludes finds nothing. */
  readonly isSearchable: boolean
}

/** The longest search that the server takes, in characters. */
export const maxSearchLength = 256

/** Takes a search apart as the server does: words, "phrases" and -exclusions; case and accents do not matter. */
export function explainSearch(text: string): ExplainedSearch {
  const words: string[] = []
  const phrases: string[] = []
  const without: string[] = []
  for (const [, minus, phrase, bare] of text.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)) {
    const value = (phrase ?? bare ?? '').trim()
    if (!/[\p{L}\p{N}]/u.test(value)) continue
    if (minus) without.push(value)
    else if (isPhrase(value)) phrases.push(value)
    else words.push(value)
  }
  return { words, phrases, without, isSearchable: words.length + phrases.length > 0 }
}

/** What is not one word for the index (`ann@x.example`, `30-day`) is looked for as its words, next to each other. */
function isPhrase(value: string): boolean {
  return (value.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).length > 1
}
