import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import type { InboundMessage } from '../api/mail-api.ts'
import { mailStrings as strings } from '../strings.ts'

interface HeadersDialogProps {
  readonly message: InboundMessage
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** The header fields of a message, in their order, decoded. */
export function HeadersDialog({ message, isOpen, onClose }: HeadersDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={strings.headers} width="large">
      <dl className="font-mono text-xs">
        {message.headers.map(({ name, value }, position) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: fields repeat, and do not change
            key={position}
            className="border-b border-line py-1.5 last:border-0 sm:grid sm:grid-cols-[12rem_1fr] sm:gap-3"
          >
            <dt className="break-all text-faint">
              <SafeText text={name} />
            </dt>
            <dd className="min-w-0 break-all">
              <SafeText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
