import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Archive, FilePen, Inbox, type LucideIcon, OctagonAlert, PenLine, ShieldAlert, Trash2 } from 'lucide-react'
import { LinkButton } from '../../../components/actions/LinkButton.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { mailApi } from '../api/mail-api.ts'
import { type FolderName, folderNames, mailStrings as strings } from '../strings.ts'
import { MailboxChoice } from './MailboxChoice.tsx'
import { useMailList } from './mail-list-context.ts'
import { SearchField } from './SearchField.tsx'

const icons: Readonly<Record<FolderName, LucideIcon>> = {
  inbox: Inbox,
  archive: Archive,
  spam: OctagonAlert,
  trash: Trash2,
  quarantine: ShieldAlert,
}
const whole = new Intl.NumberFormat('en')

const tab =
  'inline-flex h-8 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium whitespace-nowrap text-muted transition-colors hover:bg-hover ' +
  'hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent-ink [&_svg]:size-4 pointer-coarse:h-10'

/** The folders with their unread messages, the mailbox, the search, and what one writes. */
export function FolderBar({
  folder,
  mailboxId,
}: {
  readonly folder: FolderName
  readonly mailboxId: string | undefined
}) {
  const { api, organization, may } = useOrganization()
  const { maySend } = useMailList()
  const { data } = useQuery({
    queryKey: ['messages', 'unread', api.organizationId, api.brandId, mailboxId],
    queryFn: () => mailApi(api).unread(mailboxId),
  })
  const unread = new Map(data?.data.map(row => [row.folder, row]))
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-2 gap-y-2">
      <nav
        aria-label={strings.folders}
        className="-mx-1 flex min-w-0 basis-full gap-0.5 overflow-x-auto px-1 py-0.5 md:flex-1 md:basis-0"
      >
        {folderNames.map(name => {
          const Icon = icons[name]
          const count = unread.get(name)
          return (
            <Link
              key={name}
              to="/$organization/mail/$folder"
              params={{ organization: organization.id, folder: name }}
              search={true}
              state={{ mailSearch: '' }}
              aria-current={name === folder ? 'page' : undefined}
              className={tab}
            >
              <Icon aria-hidden="true" />
              {strings.folder[name]}
              {count && count.count > 0 && (
                <UnreadCount count={`${whole.format(count.count)}${count.is_more ? '+' : ''}`} />
              )}
            </Link>
          )
        })}
        {organization.role !== 'member' && may('drafts:read') && (
          <Link
            to="/$organization/drafts"
            params={{ organization: organization.id }}
            search={keepBrand}
            className={tab}
          >
            <FilePen aria-hidden="true" />
            {strings.drafts}
          </Link>
        )}
      </nav>
      {maySend && (
        <LinkButton
          kind="primary"
          className="order-3 ml-auto md:order-none"
          icon={<PenLine />}
          to="/$organization/mail/compose"
          params={{ organization: organization.id }}
          search={keepBrand}
        >
          {strings.compose}
        </LinkButton>
      )}
      <div className="flex min-w-0 basis-full items-center gap-2 max-md:contents">
        <SearchField folder={folder} />
        <MailboxChoice mailboxId={mailboxId} folder={folder} />
      </div>
    </div>
  )
}

function UnreadCount({ count }: { readonly count: string }) {
  return (
    <span className="tabular rounded-full bg-sunken px-1.5 text-2xs font-semibold text-muted ring-1 ring-line ring-inset">
      <span aria-hidden="true">{count}</span>
      <span className="sr-only">{strings.unread(count)}</span>
    </span>
  )
}
