import { fromJson } from '../../base/database/schema.ts'
import type { SpamFindings, SpamSymbol } from '../../ports/spam-filter/port.ts'
import type { MessageDetailRow } from './table.ts'

/** What the spam filter found in a message when it came, as the API shows it. */
export interface SpamJson extends Pick<SpamFindings, 'score' | 'required'> {
  symbols: SpamSymbol[]
}

export function readSpam({ spam }: Pick<MessageDetailRow, 'spam'>): SpamJson | null {
  if (spam === null) return null
  const { score, required, symbols } = fromJson(spam) as Pick<SpamFindings, 'score' | 'required' | 'symbols'>
  return { score, required, symbols: symbols.map(symbol => ({ ...symbol })) }
}

const shownSymbols = 5

/** The reason; where it is the spam filter, with the score and what raised it most. */
export function describeReason(reason: string, spam: SpamJson | null): string {
  if (reason !== 'spam_filter' || !spam) return reason
  const raising = spam.symbols.filter(symbol => symbol.score > 0).slice(0, shownSymbols)
  const names = raising.length > 0 ? ` (${raising.map(symbol => symbol.name).join(', ')})` : ''
  return `${reason} ${spam.score} of ${spam.required}${names}`
}
