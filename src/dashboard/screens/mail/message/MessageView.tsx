import { Forward, Reply, ReplyAll } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { useTitle } from '../../../hooks/title.ts'
import type { InboundMessage } from '../api/mail-api.ts'
import { useMailList } from '../list/mail-list-context.ts'
import { mailStrings as strings } from '../strings.ts'
import { Attachments } from './Attachments.tsx'
import { Conversation } from './Conversation.tsx'
import { HtmlFrame } from './HtmlFrame.tsx'
import { MessageDetails } from './MessageDetails.tsx'
import { PlainText } from './PlainText.tsx'
import { ReplyPanel } from './ReplyPanel.tsx'
import type { ReplyKind } from './reply-kind.ts'

interface MessageViewProps {
  readonly message: InboundMessage
  readonly replyKind: ReplyKind | null
  readonly onReply: (kind: ReplyKind | null) => void
}

/** A message to read, and below it what one answers. */
export function MessageView({ message, replyKind, onReply }: MessageViewProps) {
  const { maySend } = useMailList()
  const heading = useRef<HTMLHeadingElement>(null)
  useTitle(strings.title)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    // On narrow screens it takes the place of the list, which may be scrolled far down.
    if (!matchMedia('(min-width: 80rem)').matches) scrollTo(0, 0)
  }, [])
  return (
    <article className="min-w-0" aria-labelledby="message-subject">
      <div className="rounded-lg border border-line bg-surface">
        <header className="border-b border-line p-4 sm:px-5">
          <h1
            id="message-subject"
            ref={heading}
            tabIndex={-1}
            data-page-heading=""
            className="mb-3 max-h-40 overflow-y-auto text-lg font-semibold break-words"
          >
            <SafeText text={message.subject} none={strings.noSubject} />
          </h1>
          <MessageDetails message={message} />
        </header>
        <Attachments message={message} />
        <Content message={message} />
      </div>
      <Conversation message={message} />
      {maySend && replyKind === null && (
        <div className="mt-4 flex flex-wrap gap-2">
          <Button icon={<Reply />} onClick={() => onReply('reply')}>
            {strings.reply}
          </Button>
          <Button icon={<ReplyAll />} onClick={() => onReply('reply-all')}>
            {strings.replyAll}
          </Button>
          <Button icon={<Forward />} onClick={() => onReply('forward')}>
            {strings.forward}
          </Button>
        </div>
      )}
      {maySend && replyKind && (
        <ReplyPanel key={replyKind} message={message} kind={replyKind} onClose={() => onReply(null)} />
      )}
    </article>
  )
}

type ContentForm = 'html' | 'text'

function Content({ message }: { readonly message: InboundMessage }) {
  const [form, setForm] = useState<ContentForm>(message.html === null ? 'text' : 'html')
  const [hasPictures, setPictures] = useState(false)
  if (message.purged_at)
    return (
      <div className="p-4">
        <Notice tone="info" title={strings.purged} />
      </div>
    )
  if (message.html === null) return <PlainText text={message.text} />
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2 sm:px-5">
        {message.text === null ? (
          <span />
        ) : (
          <Segmented
            label={strings.view}
            value={form}
            onValue={setForm}
            options={[
              { value: 'html', label: strings.viewHtml },
              { value: 'text', label: strings.viewText },
            ]}
          />
        )}
        {form === 'html' &&
          (hasPictures ? (
            <span className="text-sm text-muted" role="status">
              {strings.picturesShown}
            </span>
          ) : (
            <Button kind="quiet" size="small" title={strings.picturesHint} onClick={() => setPictures(true)}>
              {strings.pictures}
            </Button>
          ))}
      </div>
      {form === 'html' ? (
        <HtmlFrame messageId={message.id} hasPictures={hasPictures} />
      ) : (
        <PlainText text={message.text} />
      )}
    </>
  )
}
