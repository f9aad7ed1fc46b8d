import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { linkTo } from '../../../api/client.ts'
import { buttonClasses } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Skeleton } from '../../../components/feedback/Skeleton.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { formatBytes } from '../../../components/text/Amount.tsx'
import { showControls } from '../../../components/text/SafeText.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import type { InboundMessage } from '../api/mail-api.ts'
import { mailStrings as strings } from '../strings.ts'
import { readStart } from './read-start.ts'

interface RawDialogProps {
  readonly message: InboundMessage
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** So much of a raw message is shown. */
const mostBytes = 256 * 1024

/** The message as it was delivered, and its download; or why the API does not give it. */
export function RawDialog({ message, isOpen, onClose }: RawDialogProps) {
  const { api } = useOrganization()
  const url = linkTo(api, `/app/api/v1/inbox/${message.id}/raw`)
  const { data, error } = useQuery({
    queryKey: ['message-raw', message.id],
    queryFn: ({ signal }) => readStart(url, mostBytes, signal),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={strings.raw}
      width="large"
      footer={
        data && (
          <a href={url} download={`${message.id}.eml`} className={buttonClasses()}>
            <Download aria-hidden="true" />
            {strings.downloadRaw}
          </a>
        )
      }
    >
      {error && <Refusal error={error} />}
      {!data && !error && <Skeleton className="h-64 w-full" />}
      {data && (
        <>
          {data.isCut && <p className="mb-2 text-sm text-muted">{strings.rawCut(formatBytes(mostBytes))}</p>}
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
            tabIndex={0}
            className="max-h-[60vh] overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs"
          >
            {showControls(data.text.replace(/\r\n/g, '\n'))}
          </pre>
        </>
      )}
    </Dialog>
  )
}
