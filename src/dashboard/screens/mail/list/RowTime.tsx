import { classes } from '../../../components/classes.ts'

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: '2-digit' })
const full = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium' })

/** When a message came, as short as a list has it: the time today, the day before, with the year in others. */
export function RowTime({ at, isUnread }: { readonly at: string; readonly isUnread: boolean }) {
  const date = new Date(at)
  return (
    <time
      dateTime={at}
      title={`${full.format(date)}\n${at}`}
      className={classes(
        'tabular shrink-0 text-xs whitespace-nowrap',
        isUnread ? 'font-medium text-ink' : 'text-faint',
      )}
    >
      {shortTime(date, new Date())}
    </time>
  )
}

function shortTime(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return clock.format(date)
  return (date.getFullYear() === now.getFullYear() ? day : dayAndYear).format(date)
}
