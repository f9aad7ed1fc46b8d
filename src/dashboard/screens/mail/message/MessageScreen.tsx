import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { ArrowLeft, MailX } from 'lucide-react'
import { useEffect, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { isRefusal } from '../../../api/errors.ts'
import { LinkButton } from '../../../components/actions/LinkButton.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Skeleton } from '../../../components/feedback/Skeleton.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { useShortcuts } from '../../../hooks/shortcuts.ts'
import type { InboundMessage } from '../api/mail-api.ts'
import type { Act } from '../list/acts.ts'
import { useMailList } from '../list/mail-list-context.ts'
import { nextAfter } from '../list/snapshot.ts'
import { mailStrings as strings } from '../strings.ts'
import { MessageActions } from './MessageActions.tsx'
import { MessageView } from './MessageView.tsx'
import type { ReplyKind } from './reply-kind.ts'

/** `/app/<organization>/mail/m/<id>`: a message, with its conversation, and what can be done with it. */
export function MessageScreen() {
  const { message: id } = useParams({ from: '/$organization/mail/m/$message' })
  // Another message begins anew: nothing of the last one's answer or view is left.
  return <OpenMessage key={id} id={id} />
}

function OpenMessage({ id }: { readonly id: string }) {
  const { api, organization } = useOrganization()
  const { list, perform, mayWrite, maySend } = useMailList()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [replyKind, setReplyKind] = useState<ReplyKind | null>(null)
  const { data: message, error } = useQuery({
    queryKey: ['message', id],
    queryFn: () => answer(api.v1.GET('/v1/inbox/{id}', { params: { path: { id } } })),
    // Reading it marks it as read: not done behind the person's back.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  })
  const { apply } = list
  const isRead = message?.read === true
  useEffect(() => {
    if (!isRead) return
    apply([id], { read: true })
    void queryClient.invalidateQueries({ queryKey: ['messages', 'unread'] })
  }, [isRead, id, apply, queryClient])

  const toList = () =>
    void navigate({
      to: '/$organization/mail/$folder',
      params: { organization: organization.id, folder: list.source.folder },
      search: true,
      state: true,
      resetScroll: false,
    })
  const open = (other: string | null) => {
    if (other === null) return toList()
    void navigate({
      to: '/$organization/mail/m/$message',
      params: { organization: organization.id, message: other },
      search: true,
      state: true,
      resetScroll: false,
    })
  }
  const act = (wanted: Act) => {
    if (!message) return
    const next = nextAfter(list.rows ?? [], new Set([id]))
    perform(wanted, [message])
    if (wanted.kind === 'move') open(next)
    // What is open counts as read: back to the list, so that it stays unread.
    else if (wanted.kind === 'read' && !wanted.read) toList()
    else
      queryClient.setQueryData<InboundMessage>(['message', id], before => before && { ...before, ...changed(wanted) })
  }
  const step = (by: 1 | -1) => {
    const rows = list.rows ?? []
    const at = rows.findIndex(row => row.id === id)
    const next = rows[at + by]
    if (next && at >= 0) open(next.id)
  }
  useShortcuts(strings.keys, [
    { key: 'j', label: strings.keyNext, run: () => step(1) },
    { key: 'k', label: strings.keyPrevious, run: () => step(-1) },
    { key: 'Escape', label: strings.keyBack, run: () => (replyKind ? setReplyKind(null) : toList()) },
    ...(mayWrite
      ? [
          { key: 'e', label: strings.archive, run: () => act({ kind: 'move', folder: 'archive' }) },
          { key: '#', label: strings.trash, run: () => act({ kind: 'move', folder: 'trash' }) },
          { key: 's', label: strings.star, run: () => act({ kind: 'star', starred: !message?.starred }) },
          { key: 'u', label: strings.markUnread, run: () => act({ kind: 'read', read: false }) },
        ]
      : []),
    ...(maySend
      ? [
          { key: 'r', label: strings.reply, run: () => setReplyKind('reply') },
          { key: 'a', label: strings.replyAll, run: () => setReplyKind('reply-all') },
          { key: 'f', label: strings.forward, run: () => setReplyKind('forward') },
        ]
      : []),
  ])

  const back = (
    <LinkButton
      kind="quiet"
      size="small"
      icon={<ArrowLeft />}
      to="/$organization/mail/$folder"
      params={{ organization: organization.id, folder: list.source.folder }}
      search={true}
      state={true}
      className="xl:hidden"
    >
      {strings.folder[list.source.folder]}
    </LinkButton>
  )
  if (error)
    return (
      <div className="flex flex-col gap-3">
        <div>{back}</div>
        {isRefusal(error, 'not_found') ? (
          <EmptyState icon={<MailX />} title={strings.gone}>
            {strings.goneHint}
          </EmptyState>
        ) : (
          <Refusal error={error} />
        )}
      </div>
    )
  return (
    <div className="min-w-0">
      <div className="mb-2 flex flex-wrap items-center gap-1">
        {back}
        {message && <MessageActions message={message} onAct={act} onReply={setReplyKind} />}
      </div>
      {message ? (
        <MessageView message={message} replyKind={replyKind} onReply={setReplyKind} />
      ) : (
        <div className="rounded-lg border border-line bg-surface p-5">
          <Skeleton className="mb-4 h-6 w-2/3" />
          <Skeleton className="mb-2 h-4 w-1/3" />
          <Skeleton className="h-64 w-full" />
        </div>
      )}
    </div>
  )
}

function changed(act: Act): Partial<InboundMessage> {
  switch (act.kind) {
    case 'star':
      return { starred: act.starred }
    case 'read':
      return { read: act.read }
    case 'move':
      return { folder: act.folder }
    default:
      return act satisfies never
  }
}
