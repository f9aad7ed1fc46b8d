import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import { TextLink } from '../../../components/actions/TextLink.tsx'
import { classes } from '../../../components/classes.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { type InboundMessage, mailApi, type ThreadItem } from '../api/mail-api.ts'
import { mailStrings as strings } from '../strings.ts'

/** What else was received and sent in the conversation of a message, in order. */
export function Conversation({ message }: { readonly message: InboundMessage }) {
  const { api, organization } = useOrganization()
  const { data } = useQuery({
    queryKey: ['messages', 'thread', message.thread_id],
    queryFn: () => mailApi(api).thread(message.thread_id),
  })
  if (!data || data.data.length < 2) return null
  const { in_reply_to_email_id: repliedTo } = message
  return (
    <section aria-labelledby="conversation" className="mt-4">
      <h2 id="conversation" className="mb-1.5 text-sm font-medium text-muted">
        {strings.thread(data.data.length)}
      </h2>
      {repliedTo !== null && (
        <p className="mb-1.5 text-sm text-muted">
          {strings.repliedTo}{' '}
          <TextLink
            to="/$organization/sent/$email"
            params={{ organization: organization.id, email: repliedTo }}
            search={keepBrand}
          >
            {strings.showSent}
          </TextLink>
        </p>
      )}
      {data.has_more && <p className="mb-1.5 text-xs text-faint">{strings.threadMore}</p>}
      <ol className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {data.data.map(item => (
          <ThreadRow key={item.kind === 'sent' ? item.email.id : item.message.id} item={item} openId={message.id} />
        ))}
      </ol>
    </section>
  )
}

function ThreadRow({ item, openId }: { readonly item: ThreadItem; readonly openId: string }) {
  const { organization } = useOrganization()
  const isOpen = item.kind === 'received' && item.message.id === openId
  const row = classes('flex items-center gap-2 px-3 py-2 text-sm', isOpen ? 'bg-accent-soft' : 'hover:bg-hover')
  const params = { organization: organization.id }
  if (item.kind === 'sent')
    return (
      <li>
        <Link
          to="/$organization/sent/$email"
          params={{ ...params, email: item.email.id }}
          search={keepBrand}
          className={row}
        >
          <ArrowUpRight className="size-4 shrink-0 text-faint" role="img" aria-label={strings.threadSent} />
          <SafeText text={item.email.from} className="max-w-40 shrink-0 truncate font-medium" />
          <SafeText text={item.email.subject} none={strings.noSubject} className="min-w-0 flex-1 truncate text-muted" />
          <Time at={item.at} />
        </Link>
      </li>
    )
  const { message } = item
  return (
    <li aria-current={isOpen ? 'true' : undefined}>
      <Link
        to="/$organization/mail/m/$message"
        params={{ ...params, message: message.id }}
        search={true}
        state={true}
        resetScroll={false}
        className={row}
      >
        <ArrowDownLeft className="size-4 shrink-0 text-faint" role="img" aria-label={strings.threadReceived} />
        <SafeText
          text={message.from.name || message.from.address}
          none={strings.noSender}
          className="max-w-40 shrink-0 truncate font-medium"
        />
        <SafeText text={message.preview} none="" className="min-w-0 flex-1 truncate text-muted" />
        {isOpen && <span className="shrink-0 text-xs text-accent-ink">{strings.threadCurrent}</span>}
        <Time at={item.at} />
      </Link>
    </li>
  )
}
