import { Link } from '@tanstack/react-router'
import { Paperclip, ShieldAlert, ShieldQuestion, Star } from 'lucide-react'
import type { MouseEvent } from 'react'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { classes } from '../../../components/classes.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import type { InboxItem } from '../api/mail-api.ts'
import { mailStrings as strings } from '../strings.ts'
import { RowTime } from './RowTime.tsx'

interface MessageRowProps {
  readonly row: InboxItem
  readonly organizationId: string
  readonly isOpen: boolean
  readonly isTicked: boolean
  readonly mayWrite: boolean
  /** Search results name the folder that each is in. */
  readonly showsFolder: boolean
  readonly onTick: (id: string, isRange: boolean) => void
  readonly onStar: (row: InboxItem) => void
}

/** A message in the list: two lines, of which the whole opens it. */
export function MessageRow({
  row,
  organizationId,
  isOpen,
  isTicked,
  mayWrite,
  showsFolder,
  onTick,
  onStar,
}: MessageRowProps) {
  const from = row.from.name || row.from.address
  const weight = row.read ? 'text-muted' : 'font-semibold text-ink'
  return (
    <div
      className={classes(
        'flex items-start gap-1 py-2 pr-3 pl-1.5',
        isOpen && 'bg-accent-soft',
        isTicked && !isOpen && 'bg-hover',
      )}
    >
      <div className="flex shrink-0 flex-col items-center">
        {mayWrite && (
          <label className="relative z-10 flex size-7 items-center justify-center pointer-coarse:size-10">
            <span className="sr-only">{strings.tick(from || strings.noSender)}</span>
            <input
              type="checkbox"
              checked={isTicked}
              onChange={() => undefined}
              onClick={(event: MouseEvent<HTMLInputElement>) => onTick(row.id, event.shiftKey)}
              className="size-4 accent-accent"
            />
          </label>
        )}
        {mayWrite ? (
          <IconButton
            size="small"
            label={row.starred ? strings.unstar : strings.star}
            isPressed={row.starred}
            icon={<Star className={row.starred ? 'fill-current' : ''} />}
            onClick={() => onStar(row)}
            className={classes('relative z-10', row.starred && 'text-warn')}
          />
        ) : (
          row.starred && (
            <Star className="m-1.5 size-4 fill-current text-warn" role="img" aria-label={strings.starred} />
          )
        )}
      </div>
      <div className="min-w-0 flex-1 pt-1">
        <div className="flex items-baseline gap-2">
          {!row.read && (
            <span
              className="size-2 shrink-0 self-center rounded-full bg-accent"
              role="img"
              aria-label={strings.unreadMark}
            />
          )}
          <span className={classes('min-w-0 flex-1 truncate text-sm', weight)}>
            <SafeText text={from} none={strings.noSender} />
          </span>
          <RowTime at={row.received_at} isUnread={!row.read} />
        </div>
        <Link
          to="/$organization/mail/m/$message"
          params={{ organization: organizationId, message: row.id }}
          search={true}
          state={true}
          resetScroll={false}
          data-open=""
          aria-current={isOpen ? 'true' : undefined}
          className={classes(
            'block truncate text-sm before:absolute before:inset-0 focus-visible:outline-none focus-visible:before:outline-2 focus-visible:before:-outline-offset-2 focus-visible:before:outline-accent',
            row.read ? 'text-ink' : 'font-medium text-ink',
          )}
        >
          <SafeText text={row.subject} none={strings.noSubject} />
        </Link>
        <div className="mt-0.5 flex items-center gap-2">
          <span className="min-w-0 flex-1 truncate text-xs text-faint">
            {showsFolder && <span className="mr-1.5 text-muted">{strings.sentIn(strings.folder[row.folder])}</span>}
            <SafeText text={row.preview} none="" />
          </span>
          <Signs row={row} />
        </div>
      </div>
    </div>
  )
}

/** What one should know before opening it: each sign has its own shape, and its words for screen readers. */
function Signs({ row }: { readonly row: InboxItem }) {
  const isProven = row.auth.dmarc === 'pass'
  const isDisproven = row.auth.dmarc === 'fail'
  const sign = 'size-3.5 shrink-0'
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-faint">
      {row.scan === 'infected' && (
        <ShieldAlert className={classes(sign, 'text-bad')} role="img" aria-label={strings.infected} />
      )}
      {row.scan === 'error' && (
        <ShieldQuestion className={classes(sign, 'text-warn')} role="img" aria-label={strings.unscanned} />
      )}
      {isDisproven && <Verdict className={classes(sign, 'text-bad')} label={strings.notProven} isGood={false} />}
      {isProven && <Verdict className={classes(sign, 'text-good')} label={strings.proven} isGood />}
      {row.attachment_count > 0 && (
        <Paperclip className={sign} role="img" aria-label={strings.attachments(row.attachment_count)} />
      )}
    </span>
  )
}

/** A seal with a tick, or with a cross. */
function Verdict({
  className,
  label,
  isGood,
}: {
  readonly className: string
  readonly label: string
  readonly isGood: boolean
}) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      role="img"
      aria-label={label}
      className={className}
    >
      <circle cx="8" cy="8" r="6.2" />
      <path d={isGood ? 'm5.4 8.2 1.8 1.8 3.4-3.8' : 'm5.8 5.8 4.4 4.4m0-4.4-4.4 4.4'} />
    </svg>
  )
}
