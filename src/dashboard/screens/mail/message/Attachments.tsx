import { Download, Paperclip, ShieldAlert, ShieldQuestion } from 'lucide-react'
import { useState } from 'react'
import { linkTo } from '../../../api/client.ts'
import { buttonClasses } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Bytes } from '../../../components/text/Amount.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import type { InboundMessage } from '../api/mail-api.ts'
import { mailStrings as strings } from '../strings.ts'
import { readStart } from './read-start.ts'

type Attachment = InboundMessage['attachments'][number]

/** The attachments of a message. One that the API refuses is not a link: asked for, it says why. */
export function Attachments({ message }: { readonly message: InboundMessage }) {
  const [error, setError] = useState<unknown>(null)
  if (message.attachments.length === 0) return null
  return (
    <section aria-label={strings.attachmentsTitle} className="border-b border-line px-4 py-3 sm:px-5">
      {message.attachments_purged_at && <p className="mb-2 text-sm text-muted">{strings.attachmentsPurged}</p>}
      <ul className="flex flex-wrap gap-2">
        {message.attachments.map(attachment => (
          <li key={attachment.id} className="max-w-full min-w-0">
            <AttachmentChip message={message} attachment={attachment} onRefused={setError} />
          </li>
        ))}
      </ul>
      {error !== null && (
        <div className="mt-2">
          <Refusal error={error} />
        </div>
      )}
    </section>
  )
}

interface AttachmentChipProps {
  readonly message: InboundMessage
  readonly attachment: Attachment
  readonly onRefused: (error: unknown) => void
}

function AttachmentChip({ message, attachment, onRefused }: AttachmentChipProps) {
  const { api } = useOrganization()
  const { filename, size, scan } = attachment
  const url = linkTo(api, `/app/api/v1/inbox/${message.id}/attachments/${attachment.id}`)
  const name = <SafeText text={filename} none={strings.noName} className="min-w-0 truncate" />
  const isOffered = (scan === 'clean' || scan === 'skipped') && !message.purged_at && !message.attachments_purged_at
  if (isOffered)
    return (
      <a href={url} download className={`${buttonClasses()} max-w-full`} title={strings.download}>
        <Paperclip aria-hidden="true" />
        {name}
        <span className="text-xs text-faint">
          <Bytes value={size} />
        </span>
        <Download className="text-faint" aria-hidden="true" />
      </a>
    )
  const ask = () => {
    const controller = new AbortController()
    readStart(url, 1, controller.signal).then(() => controller.abort(), onRefused)
  }
  const isInfected = scan === 'infected'
  return (
    <span className="inline-flex h-8 max-w-full items-center gap-1.5 rounded-md border border-line-strong bg-sunken pl-2.5 text-base">
      {isInfected ? (
        <ShieldAlert className="size-4 shrink-0 text-bad" role="img" aria-label={strings.infected} />
      ) : (
        <ShieldQuestion className="size-4 shrink-0 text-warn" role="img" aria-label={strings.unscanned} />
      )}
      {name}
      <span className="text-xs text-faint">
        <Bytes value={size} />
      </span>
      <IconButton size="small" label={strings.download} icon={<Download />} onClick={ask} />
    </span>
  )
}
