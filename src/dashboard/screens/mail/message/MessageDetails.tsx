import { ChevronRight } from 'lucide-react'
import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { Avatar } from '../../../components/text/Avatar.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import type { InboundMessage } from '../api/mail-api.ts'
import { mailStrings as strings } from '../strings.ts'
import { WhyHere } from './WhyHere.tsx'

interface MessageAddress {
  readonly address: string
  readonly name: string
}

/** Who wrote it, to whom and when; behind that, all addresses and why it is in its folder. */
export function MessageDetails({ message }: { readonly message: InboundMessage }) {
  const { from, to, cc, reply_to, date, envelope } = message
  return (
    <div className="flex gap-3">
      <Avatar name={from.name || from.address || '?'} className="size-8" />
      <div className="min-w-0 flex-1 text-sm">
        <div className="flex flex-wrap items-baseline justify-between gap-x-3">
          <div className="min-w-0 break-words">
            <SafeText text={from.name || from.address} none={strings.noSender} className="font-medium" />{' '}
            {from.name && <SafeText text={from.address} none="" className="text-muted" />}
          </div>
          <span className="text-xs text-faint">
            <Time at={message.received_at} show="full" />
          </span>
        </div>
        <div className="max-h-24 overflow-y-auto text-muted">
          {strings.to} <Addresses list={to} none={message.address} />
          {cc.length > 0 && (
            <>
              , {strings.cc} <Addresses list={cc} />
            </>
          )}
        </div>
        <details className="group mt-1.5">
          <summary className="inline-flex w-fit list-none items-center gap-1 rounded-sm text-xs font-medium text-muted hover:text-ink pointer-coarse:min-h-10">
            <ChevronRight className="size-3.5 transition-transform group-open:rotate-90" aria-hidden="true" />
            {strings.details} · {strings.whyHere}
          </summary>
          <div className="mt-2 flex flex-col gap-3">
            <KeyValues
              items={[
                [strings.from, <Addresses key="from" list={[from]} />],
                reply_to.length > 0 ? [strings.replyTo, <Addresses key="reply" list={reply_to} />] : null,
                [strings.receivedFor, <SafeText key="for" text={envelope.rcpt_to} />],
                date ? [strings.date, <Time key="date" at={date} show="full" />] : null,
              ]}
            />
            <WhyHere message={message} />
          </div>
        </details>
      </div>
    </div>
  )
}

function Addresses({ list, none }: { readonly list: readonly MessageAddress[]; readonly none?: string }) {
  if (list.length === 0) return <SafeText text={none} />
  return (
    <>
      {list.map(({ name, address }, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an address may be there twice, and the list does not change
        <span key={position} className="break-words">
          {position > 0 && ', '}
          <SafeText text={name === '' ? address : `${name} <${address}>`} />
        </span>
      ))}
    </>
  )
}
