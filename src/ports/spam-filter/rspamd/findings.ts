import { maxSymbols, type SpamFindings, type SpamSymbol } from '../port.ts'

/** The actions by which rspamd asks to treat a message as spam; `no action`, `greylist` and `soft reject` do not. */
const spamActions: ReadonlySet<string> = new Set(['add header', 'rewrite subject', 'quarantine', 'reject', 'discard'])

const maxNameLength = 64

/** What a reply to `/checkv2` says. */
export interface CheckReply extends Omit<SpamFindings, 'required'> {
  /** null: the reply does not say it; rspamd before 3.5 does not. */
  readonly required: number | null
  /** The score of its severest action. */
  readonly severest: number
}

/** Undefined: it is not of the form that rspamd documents, or rspamd was told not to check the message. */
export function readCheckReply(text: string): CheckReply | undefined {
  const reply = parseJson(text)
  if (!isObject(reply)) return undefined
  const { action, score, required_score: severest, thresholds, symbols, is_skipped: isSkipped } = reply
  if (typeof action !== 'string' || !isNumber(score) || !isNumber(severest)) return undefined
  const isSpam = spamActions.has(action)
  // It also skips its rules where a message is spam without them.
  if (isSkipped === true && !isSpam) return undefined
  const required = isObject(thresholds) ? lowestForSpam(Object.entries(thresholds)) : null
  return { isSpam, score: round(score), required, severest: round(severest), symbols: symbolsOf(symbols) }
}

/** The lowest score of an action for spam in a reply of the controller to `/actions`; null: it has none. */
export function readActions(text: string): number | null {
  const actions = parseJson(text)
  if (!Array.isArray(actions)) return null
  return lowestForSpam(actions.filter(isObject).map(({ action, value }) => [String(action), value] as const))
}

function lowestForSpam(scores: readonly (readonly [action: string, score: unknown])[]): number | null {
  const found = scores.flatMap(([action, score]) => (spamActions.has(action) && isNumber(score) ? [score] : []))
  return found.length > 0 ? round(Math.min(...found)) : null
}

function symbolsOf(symbols: unknown): readonly SpamSymbol[] {
  if (!isObject(symbols)) return []
  const found = Object.entries(symbols).flatMap(([name, symbol]) =>
    isObject(symbol) && isNumber(symbol['score']) && /^[\w.:-]+$/.test(name)
      ? [{ name: name.slice(0, maxNameLength), score: round(symbol['score']) }]
      : [],
  )
  return found.toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score)).slice(0, maxSymbols)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function round(score: number): number {
  return Math.round(score * 100) / 100
}
