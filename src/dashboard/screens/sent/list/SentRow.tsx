import { Link } from '@tanstack/react-router'
import { Paperclip } from 'lucide-react'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status, Tag } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { isEmailStatus, statusTone } from '../email-status.ts'
import { statusHints } from '../status-hints.ts'
import { sentStrings as strings } from '../strings.ts'
import type { SentEmail } from './sent-pages.ts'

/** An email in the list; the whole row opens it. */
export function SentRow({ email, organization }: { readonly email: SentEmail; readonly organization: string }) {
  const { status, to, cc, subject, tags, template, created_at, scheduled_at, attachment_count } = email
  const [first, ...others] = [...to, ...cc]
  return (
    <div className="grid grid-cols-[1fr_auto] gap-x-3 gap-y-0.5 px-3 py-2 text-sm sm:grid-cols-[6.5rem_minmax(0,14rem)_minmax(0,1fr)_auto] sm:items-center">
      <div className="col-start-1 row-start-3 flex items-center sm:row-start-1">
        <Status tone={statusTone(status)} title={isEmailStatus(status) ? statusHints[status] : status}>
          {status}
        </Status>
      </div>
      <div className="col-start-1 row-start-1 flex min-w-0 items-baseline gap-1.5 sm:col-start-2">
        <span className="min-w-0 truncate font-medium">
          <SafeText text={first} />
        </span>
        {others.length > 0 && <span className="text-xs text-faint">{strings.more(others.length)}</span>}
      </div>
      <div className="col-span-2 col-start-1 row-start-2 flex min-w-0 items-center gap-2 sm:col-span-1 sm:col-start-3 sm:row-start-1">
        <Link
          to="/$organization/sent/$email"
          params={{ organization, email: email.id }}
          search={keepBrand}
          data-open=""
          className="min-w-0 truncate after:absolute after:inset-0 focus-visible:outline-offset-0"
        >
          <SafeText text={subject} none={strings.noSubject} />
        </Link>
        <span className="hidden shrink-0 items-center gap-1 lg:flex">
          {template && <Tag>{template}</Tag>}
          {tags.slice(0, 2).map(tag => (
            <Tag key={tag.name}>
              <SafeText text={`${tag.name}:${tag.value}`.slice(0, 40)} />
            </Tag>
          ))}
          {tags.length > 2 && <span className="text-xs text-faint">{strings.more(tags.length - 2)}</span>}
        </span>
      </div>
      <div className="col-start-2 row-start-1 flex items-center justify-end gap-1.5 text-faint sm:col-start-4">
        {attachment_count > 0 && <Paperclip className="size-3.5" aria-hidden="true" />}
        {status === 'scheduled' && scheduled_at ? (
          <span>
            {strings.scheduledFor} <Time at={scheduled_at} />
          </span>
        ) : (
          <Time at={created_at} />
        )}
      </div>
    </div>
  )
}
