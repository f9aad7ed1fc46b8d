import type { ReactNode } from 'react'
import type { components } from '../../../api/v1.ts'
import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Tag } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { emailStrings as strings } from './strings.ts'

type Email = components['schemas']['EmailDetail']

/** The facts about an email that its head does not show. */
export function EmailDetails({ email }: { readonly email: Email }) {
  return (
    <KeyValues
      items={[
        [strings.id, <Code key="id" text={email.id} />],
        addresses(strings.replyTo, email.reply_to),
        [strings.accepted, <Time key="accepted" at={email.created_at} show="full" />],
        email.scheduled_at
          ? [strings.scheduledFor, <Time key="scheduled" at={email.scheduled_at} show="full" />]
          : null,
        email.template ? [strings.template, email.template] : null,
        email.tags.length > 0
          ? [
              strings.tags,
              <span key="tags" className="flex flex-wrap gap-1">
                {email.tags.map(({ name, value }) => (
                  <Tag key={name}>
                    <SafeText text={`${name}:${value}`} />
                  </Tag>
                ))}
              </span>,
            ]
          : null,
        [strings.messageId, <Code key="message" text={email.message_id} />],
        email.wire_message_id ? [strings.wireMessageId, <Code key="wire" text={email.wire_message_id} />] : null,
        [strings.provider, email.provider],
        email.provider_message_id
          ? [strings.providerId, <Code key="provider" text={email.provider_message_id} />]
          : null,
      ]}
    />
  )
}

function addresses(name: string, values: readonly string[]): readonly [string, ReactNode] | null {
  return values.length > 0 ? [name, <SafeText key={name} text={values.join(', ')} />] : null
}

function Code({ text }: { readonly text: string }) {
  return (
    <code className="font-mono text-xs break-all">
      <SafeText text={text} />
    </code>
  )
}
