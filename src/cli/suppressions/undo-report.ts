import type { UndoneSuppression } from '../../sending/suppressions/undo.ts'
import type { OutputFormat } from '../command.ts'

type ReasonCounts = Record<'hard_bounce' | 'complaint', number>

/** The output of an undo, written piece by piece: only the counts are kept in memory. */
export interface UndoReport {
  begin(): string
  add(undone: readonly UndoneSuppression[]): string
  /** The counts of each brand, and the total. */
  end(): string
}

/** `text`: a line for each suppression, then the counts; `json`: one document, which is complete only with its end. */
export function openUndoReport(format: OutputFormat, isDryRun: boolean): UndoReport {
  const brands = new Map<string, ReasonCounts>()
  let count = 0

  function tally({ brand_id, reason }: UndoneSuppression): void {
    const counts = brands.get(brand_id) ?? { hard_bounce: 0, complaint: 0 }
    brands.set(brand_id, counts)
    if (reason === 'hard_bounce' || reason === 'complaint') counts[reason]++
    count++
  }

  if (format === 'text')
    return {
      begin: () => '',
      add(undone) {
        for (const suppression of undone) tally(suppression)
        return undone.map(suppression => `${describe(suppression)}\n`).join('')
      },
      end() {
        const lines = Array.from(
          brands,
          ([id, { hard_bounce, complaint }]) => `${id}  ${hard_bounce} hard bounces, ${complaint} complaints\n`,
        )
        const total = `${count} ${count === 1 ? 'suppression' : 'suppressions'}`
        return `${lines.join('')}${isDryRun ? 'Would undo' : 'Undid'} ${total}.\n`
      },
    }
  return {
    begin: () => `{"dry_run":${isDryRun},"undone":[`,
    add(undone) {
      const before = count
      for (const suppression of undone) tally(suppression)
      return undone.map((suppression, i) => `${before + i === 0 ? '' : ','}\n${JSON.stringify(suppression)}`).join('')
    },
    end() {
      const counts = Array.from(brands, ([brand_id, counts]) => ({ brand_id, ...counts }))
      return `],\n"count":${count},"brands":${JSON.stringify(counts)}}\n`
    },
  }
}

function describe({ brand_id, email, reason, evidence, suppressed_at, stays_unsubscribed }: UndoneSuppression): string {
  const unsubscribed = stays_unsubscribed ? ' (stays unsubscribed)' : ''
  return `${brand_id}  ${email}  ${reason} ${suppressed_at}: ${evidence ?? 'no evidence'}${unsubscribed}`
}
