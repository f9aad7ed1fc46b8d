import type { UndoneSuppression } from '../../sending/suppressions/undo.ts'

/** Counts of one brand. */
type ReasonCounts = Record<'hard_bounce' | 'complaint', number>

/** The account of an undoing, as text that is written bit by bit: what was told is not kept. */
export interface UndoReport {
  begin(): string
  add(undone: readonly UndoneSuppression[]): string
  /** How many there were of which brand, and in all. */
  end(): string
}

/** `text`: a line each, and the counts; `json`: one document, whole only with its end. */
export function openUndoReport(form: 'text' | 'json', isDry: boolean): UndoReport {
  const brands = new Map<string, ReasonCounts>()
  let count = 0

  function note({ brand_id, reason }: UndoneSuppression): void {
    const counts = brands.get(brand_id) ?? { hard_bounce: 0, complaint: 0 }
    brands.set(brand_id, counts)
    if (reason === 'hard_bounce' || reason === 'complaint') counts[reason]++
    count++
  }

  if (form === 'text')
    return {
      begin: () => '',
      add(undone) {
        for (const undoneSuppression of undone) note(undoneSuppression)
        return undone.map(undoneSuppression => `${line(undoneSuppression)}\n`).join('')
      },
      end: () =>
        [
          ...Array.from(brands, ([id, of]) => `${id}  ${of.hard_bounce} hard bounces, ${of.complaint} complaints\n`),
          `${isDry ? 'Would undo' : 'Undid'} ${count} ${count === 1 ? 'suppression' : 'suppressions'}.\n`,
        ].join(''),
    }
  return {
    begin: () => `{"dry_run":${isDry},"undone":[`,
    add(undone) {
      const before = count
      for (const undoneSuppression of undone) note(undoneSuppression)
      return undone
        .map((undoneSuppression, i) => `${before + i === 0 ? '' : ','}\n${JSON.stringify(undoneSuppression)}`)
        .join('')
    },
    end() {
      const shown = Array.from(brands, ([brand_id, counts]) => ({ brand_id, ...counts }))
      return `],\n"count":${count},"brands":${JSON.stringify(shown)}}\n`
    },
  }
}

function line({ brand_id, email, reason, evidence, suppressed_at, stays_unsubscribed }: UndoneSuppression): string {
  const rest = stays_unsubscribed ? ' (stays unsubscribed)' : ''
  return `${brand_id}  ${email}  ${reason} ${suppressed_at}: ${evidence ?? 'no evidence'}${rest}`
}
