/** What one types in a draft, as the API stores it. */
export interface DraftFields {
  /** Empty: not chosen yet. */
  readonly from: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly subject: string
  readonly text: string
  /** The received message that it replies to. */
  readonly in_reply_to: string | null
}

/** A draft before anything is typed. */
export const blankDraft: DraftFields = { from: '', to: [], cc: [], bcc: [], subject: '', text: '', in_reply_to: null }

/** Cc and Bcc as the API takes them: what is empty is absent. */
export function copiesOf({ cc, bcc }: Pick<DraftFields, 'cc' | 'bcc'>): { cc?: string[]; bcc?: string[] } {
  return { ...(cc.length > 0 && { cc: [...cc] }), ...(bcc.length > 0 && { bcc: [...bcc] }) }
}

/** Is there anything that would be lost? From alone is chosen by the page. */
export function isBlank({ to, cc, bcc, subject, text }: DraftFields): boolean {
  return to.length + cc.length + bcc.length === 0 && subject.trim() === '' && text.trim() === ''
}

/** Have these two the same content? */
export function isSameDraft(a: DraftFields, b: DraftFields): boolean {
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b))
}

function ordered({ from, to, cc, bcc, subject, text, in_reply_to }: DraftFields) {
  return [from, to, cc, bcc, subject, text, in_reply_to]
}
