import { ToneIcon } from '../../../components/text/Status.tsx'
import type { InboundMessage } from '../api/mail-api.ts'
import { mailStrings as strings } from '../strings.ts'
import { whyHere } from './why-here.ts'

/** Why a message is in its folder: the reason, then what each check found. */
export function WhyHere({ message }: { readonly message: InboundMessage }) {
  const { reason, moved, checks } = whyHere(message)
  return (
    <section aria-label={strings.whyHere} className="rounded-lg border border-line bg-sunken p-3">
      <h2 className="text-sm font-medium">
        {strings.whyHere}: {strings.folder[message.folder]}
      </h2>
      <p className="mt-1 text-sm">{reason}</p>
      {moved && <p className="text-sm text-muted">{moved}</p>}
      <ul className="mt-2 flex flex-col gap-1.5">
        {checks.map(({ name, tone, text }) => (
          <li key={name} className="flex gap-2 text-sm">
            <ToneIcon tone={tone} className="mt-0.5 size-4" />
            <span className="min-w-0">
              <span className="font-medium">{name}</span> <span className="text-muted">{text}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
