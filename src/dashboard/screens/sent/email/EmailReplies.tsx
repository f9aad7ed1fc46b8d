import { useRouter } from '@tanstack/react-router'
import { Reply } from 'lucide-react'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { emailStrings as strings } from './strings.ts'

/** A received reply, as far as the list shows it. */
export interface ReceivedReply {
  readonly id: string
  readonly author: string | null
  readonly receivedAt: string | null
  readonly preview: string
}

/** The messages that answer the email; each opens in the mailbox. */
export function EmailReplies({ replies }: { readonly replies: readonly ReceivedReply[] }) {
  const { organization } = useOrganization()
  const router = useRouter()
  return (
    <ul aria-label={strings.replies} className="divide-y divide-line rounded-lg border border-line bg-surface">
      {replies.map(reply => {
        const href = `/app/${organization.id}/mail/m/${reply.id}`
        return (
          <li key={reply.id} className="relative flex items-center gap-3 px-3 py-2 text-sm hover:bg-hover">
            <Reply className="size-4 shrink-0 text-faint" aria-hidden="true" />
            <a
              href={href}
              className="min-w-0 flex-1 truncate after:absolute after:inset-0"
              onClick={event => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                router.history.push(href)
              }}
            >
              <span className="font-medium">
                {reply.author === null ? strings.openReply : <SafeText text={reply.author} />}
              </span>{' '}
              <span className="text-muted">
                <SafeText text={reply.preview} none="" />
              </span>
            </a>
            {reply.receivedAt && <Time at={reply.receivedAt} />}
          </li>
        )
      })}
    </ul>
  )
}
