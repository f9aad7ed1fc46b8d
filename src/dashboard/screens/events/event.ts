import type { components } from '../../api/generated/app.ts'
import type { Tone } from '../../components/text/Status.tsx'
import { isEmailStatus, statusTone } from '../sent/email-status.ts'

/** Something that happened, as programs get it, with the cursor from which on the feed has what came after it. */
export type FeedEvent = components['schemas']['EventHistory']['data'][number]

/** How a type is drawn. What of an email is known only by its status is drawn like that status. */
export function toneOf(type: string): Tone {
  const [about = '', what = ''] = type.split('.')
  if (about === 'email' && isEmailStatus(what)) return statusTone(what)
  return tones[type] ?? 'info'
}

const tones: Readonly<Record<string, Tone>> = {
  'message.quarantined': 'warn',
  'email.unconfirmed': 'off',
  'suppression.created': 'off',
  'suppression.deleted': 'off',
  'domain.verified': 'good',
  'domain.failed': 'bad',
  'domain.receiving_live': 'good',
  'brand.paused': 'bad',
  'brand.resumed': 'good',
  'webhook.disabled': 'bad',
}

/** What an event is about, for a line of the list: whom or what it names, and a subject. */
export interface EventSummary {
  readonly name: string | null
  readonly text: string | null
}

/** Reads what an event's data names. */
export function summaryOf({ type, data }: FeedEvent): EventSummary {
  const fields: Readonly<Record<string, unknown>> = data
  switch (type.split('.')[0]) {
    case 'message':
      return { name: textOf(recordOf(fields['from'])['address']), text: textOf(fields['subject']) }
    case 'email':
      return { name: textOf(fields['recipient']), text: textOf(fields['subject']) }
    case 'suppression':
      return { name: textOf(fields['email']), text: textOf(fields['reason']) }
    case 'domain':
      return { name: textOf(fields['domain']), text: null }
    case 'webhook':
      return { name: textOf(fields['url']), text: textOf(fields['reason']) }
    default:
      return { name: textOf(fields['name']), text: textOf(fields['reason']) }
  }
}

/** Where what an event is about is shown. */
export type EventTarget =
  | { readonly kind: 'message' | 'email' | 'domain' | 'webhook'; readonly id: string }
  | { readonly kind: 'none' }

/** The thing that an event is about. */
export function targetOf({ type, data }: FeedEvent): EventTarget {
  const fields: Readonly<Record<string, unknown>> = data
  const target = (kind: Exclude<EventTarget['kind'], 'none'>, id: unknown): EventTarget =>
    typeof id === 'string' ? { kind, id } : { kind: 'none' }
  switch (type.split('.')[0]) {
    case 'message':
      return target('message', fields['id'])
    case 'email':
      return target('email', fields['email_id'])
    case 'domain':
      return target('domain', fields['id'])
    case 'webhook':
      return type === 'webhook.disabled' ? target('webhook', fields['webhook_id']) : { kind: 'none' }
    default:
      return { kind: 'none' }
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
