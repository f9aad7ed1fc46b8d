import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Skeleton } from '../../../components/feedback/Skeleton.tsx'
import { Checkbox } from '../../../components/fields/Checkbox.tsx'
import { TextArea } from '../../../components/fields/TextArea.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { type InboundMessage, mailApi, type ReplyPreview } from '../api/mail-api.ts'
import { blankDraft, copiesOf } from '../compose/draft-fields.ts'
import { AttachmentField } from '../compose/fields/AttachmentField.tsx'
import { CopyFields } from '../compose/fields/CopyFields.tsx'
import { readFiles } from '../compose/fields/files.ts'
import { RecipientField } from '../compose/fields/RecipientField.tsx'
import { formatSchedule, SendButtons } from '../compose/fields/SendButtons.tsx'
import { forgetText, keepText, keptText } from '../compose/kept-text.ts'
import { showSent, useOnceSender } from '../compose/useSender.ts'
import { mailStrings as strings } from '../strings.ts'
import type { ReplyKind } from './reply-kind.ts'

interface ReplyPanelProps {
  readonly message: InboundMessage
  readonly kind: ReplyKind
  readonly onClose: () => void
}

const headings = { reply: strings.replyHeading, 'reply-all': strings.replyAllHeading, forward: strings.forwardHeading }

/** Answers a message, or forwards it: it says whom it goes to before anything is sent. */
export function ReplyPanel({ message, kind, onClose }: ReplyPanelProps) {
  const { api } = useOrganization()
  const { data: preview, error } = useQuery({
    queryKey: ['reply-preview', message.id],
    queryFn: () => mailApi(api).replyPreview(message.id),
  })
  const refusal = preview && refusalOf(kind, preview)
  return (
    <section aria-label={headings[kind]} className="mt-4 rounded-lg border border-line-strong bg-surface p-4 sm:px-5">
      <h2 className="mb-2 text-base font-semibold">{headings[kind]}</h2>
      {error && <Refusal error={error} />}
      {!preview && !error && <Skeleton className="h-24 w-full" />}
      {preview && refusal && (
        <Notice tone="warn" title={refusal} action={<Button onClick={onClose}>{strings.discard}</Button>} />
      )}
      {preview && !refusal && <ReplyForm message={message} kind={kind} onClose={onClose} preview={preview} />}
    </section>
  )
}

/** Why it cannot be sent; null: it can. */
function refusalOf(kind: ReplyKind, preview: ReplyPreview): string | null {
  if (kind === 'forward') return preview.forward_refusal?.message ?? null
  const { to } = kind === 'reply' ? preview.reply : preview.reply_all
  return preview.reply_refusal?.message ?? (to.length === 0 ? strings.nobody : null)
}

function ReplyForm({ message, kind, onClose, preview }: ReplyPanelProps & { readonly preview: ReplyPreview }) {
  const { api } = useOrganization()
  const queryClient = useQueryClient()
  const keptName = `${kind} ${message.id}`
  const [fields, setFields] = useState(() => keptText(localStorage, keptName) ?? blankDraft)
  const [hasCopies, setCopies] = useState(fields.cc.length + fields.bcc.length > 0)
  const [files, setFiles] = useState<readonly File[]>([])
  const [isQuoted, setQuoted] = useState(true)
  const { isBusy, error, run } = useAction()
  const sender = useOnceSender()
  useEffect(() => {
    if (fields !== blankDraft) keepText(localStorage, keptName, fields, Date.now())
  }, [fields, keptName])

  const isForward = kind === 'forward'
  const recipients = kind === 'reply-all' ? preview.reply_all : preview.reply
  const change = (part: Partial<typeof fields>) => setFields(before => ({ ...before, ...part }))
  const send = (at: string | null) =>
    run(async () => {
      const attachments = [...(await readFiles(files))]
      const shared = {
        ...(fields.text !== '' && { text: fields.text }),
        ...copiesOf(fields),
        ...(attachments.length > 0 && { attachments }),
      }
      const params = { path: { id: message.id } }
      const accepted = await sender.send({ kind, shared, to: fields.to, isQuoted }, at, attempt => {
        const headers = { 'Idempotency-Key': attempt.key }
        const body = { ...shared, scheduled_at: attempt.scheduledAt }
        if (kind === 'forward')
          return answer(
            api.v1.POST('/v1/inbox/{id}/forward', { params, headers, body: { ...body, to: [...fields.to] } }),
          )
        const path = kind === 'reply' ? '/v1/inbox/{id}/reply' : '/v1/inbox/{id}/reply-all'
        return answer(api.v1.POST(path, { params, headers, body: { ...body, quote: isQuoted } }))
      })
      forgetText(localStorage, keptName)
      void queryClient.invalidateQueries({ queryKey: ['messages', 'thread'] })
      onClose()
      const text = at === null ? strings.goesOut : strings.scheduled(formatSchedule(at))
      showSent(api, accepted.id, text, {
        canceledText: strings.canceledReply,
        onCanceled: () => keepText(localStorage, keptName, fields, Date.now()),
      })
    })
  const discard = () => {
    forgetText(localStorage, keptName)
    onClose()
  }
  return (
    <form
      onSubmit={event => event.preventDefault()}
      onKeyDown={event => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isBusy) void send(null)
      }}
      className="flex flex-col gap-3"
    >
      {preview.is_automatic && !isForward && <Notice tone="warn" title={strings.automatic} />}
      {isForward ? (
        <RecipientField
          label={strings.to}
          value={fields.to}
          onValue={to => change({ to })}
          error={errorOf(error, 'to')}
          hasFocus
        />
      ) : (
        <dl className="text-sm">
          <Whom term={strings.goesTo} addresses={recipients.to} />
          <Whom term={strings.goesCopy} addresses={recipients.cc} />
          <Whom term={strings.sentFrom} addresses={[preview.from]} />
        </dl>
      )}
      {hasCopies && (
        <div>
          <CopyFields fields={fields} onChange={change} error={error} />
        </div>
      )}
      <TextArea
        label={strings.writeHere}
        rows={7}
        autoFocus={!isForward}
        value={fields.text}
        onValue={text => change({ text })}
        error={errorOf(error, 'text')}
        hint={hintOf(kind, preview)}
      />
      {error !== null && <Refusal error={error} />}
      <div className="flex flex-wrap items-start gap-x-2 gap-y-2">
        <SendButtons isBusy={isBusy} onSend={at => void send(at)} />
        <AttachmentField files={files} onFiles={setFiles} />
        {!hasCopies && (
          <Button kind="quiet" onClick={() => setCopies(true)}>
            {strings.addCopies}
          </Button>
        )}
        <Button kind="quiet" className="ml-auto" onClick={discard}>
          {strings.discard}
        </Button>
      </div>
      {!isForward && preview.is_quoted && (
        <div className="text-sm">
          <Checkbox label={strings.quote} isChecked={isQuoted} onChecked={setQuoted} />
        </div>
      )}
    </form>
  )
}

function hintOf(kind: ReplyKind, preview: ReplyPreview): string {
  if (kind === 'forward') return `${strings.forwardNote} ${strings.keptHere}`
  return preview.is_quoted ? strings.keptHere : `${strings.notQuoted} ${strings.keptHere}`
}

function Whom({ term, addresses }: { readonly term: string; readonly addresses: readonly string[] }) {
  if (addresses.length === 0) return null
  return (
    <div className="flex gap-3 border-b border-line py-1.5">
      <dt className="w-28 shrink-0 text-muted">{term}</dt>
      <dd className="min-w-0 break-words">
        {addresses.map((address, position) => (
          <span key={address}>
            {position > 0 && ', '}
            <SafeText text={address} />
          </span>
        ))}
      </dd>
    </div>
  )
}
