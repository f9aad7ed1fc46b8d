import { useEffect, useState } from 'react'
import { strings } from '../strings.ts'

interface TimeProps {
  /** As in the API's JSON; null: it never happened. */
  readonly at: string | null | undefined
  /** `relative`: "3 minutes ago", moving on by itself; `day`: "Mar 12"; `full`: day and time. Default: relative. */
  readonly show?: 'relative' | 'day' | 'full'
  /** What stands there for null. */
  readonly none?: string
}

/** An instant in the reader's zone and language; its title has it in full, in both that zone and UTC. */
export function Time({ at, show = 'relative', none = strings.never }: TimeProps) {
  if (!at) return <span className="text-faint">{none}</span>
  const date = new Date(at)
  return (
    <time
      dateTime={at}
      title={`${full.format(date)}\n${date
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC')}`}
      className="tabular whitespace-nowrap"
    >
      {show === 'relative' ? <Relative date={date} /> : show === 'day' ? dayOf(date) : full.format(date)}
    </time>
  )
}

const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

/** "Mar 12"; of another year, "Mar 12, 2025". */
export function formatDay(at: string): string {
  return dayOf(new Date(at))
}

function dayOf(date: Date): string {
  return (date.getFullYear() === new Date().getFullYear() ? day : dayAndYear).format(date)
}

const minuteMs = 60_000
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', minuteMs],
] as const
const mostRelativeMs = 7 * 86_400_000

/** "5 min. ago", "in 2 days"; a week or more away, the day. */
function Relative({ date }: { readonly date: Date }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), minuteMs / 2)
    return () => clearInterval(timer)
  }, [])
  const difference = date.getTime() - now
  if (Math.abs(difference) >= mostRelativeMs) return dayOf(date)
  const unit = units.find(([, ms]) => Math.abs(difference) >= ms)
  return unit ? relative.format(Math.trunc(difference / unit[1]), unit[0]) : strings.justNow
}
