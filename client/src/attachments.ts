import type { BodyOf } from './operations.ts'

/** An attachment: its bytes as they are, or in base64. */
export interface Attachment {
  readonly filename: string
  readonly content: Uint8Array | string
  readonly content_type?: string
  /** Makes it inline: `cid:…` in the HTML. */
  readonly content_id?: string
}

type WithBytes<Body> = Body extends { attachments?: unknown; scheduled_at?: unknown }
  ? Omit<Body, 'attachments' | 'scheduled_at'> & {
      readonly attachments?: readonly Attachment[]
      readonly scheduled_at?: string | Date
    }
  : never

/** An email to be sent. */
export type EmailInput = WithBytes<BodyOf<'post', '/v1/emails'>>
/** A reply to a received message. */
export type ReplyInput = WithBytes<BodyOf<'post', '/v1/inbox/{id}/reply'>>
/** A message that is passed on. */
export type ForwardInput = WithBytes<BodyOf<'post', '/v1/inbox/{id}/forward'>>

/** The request's `Body`: the bytes of attachments are in base64, and JSON writes a Date as the API reads it. */
export function toBody<Body>({ attachments, ...rest }: { readonly attachments?: readonly Attachment[] }): Body {
  const encoded = attachments?.map(attachment => ({ ...attachment, content: base64Of(attachment.content) }))
  return { ...rest, ...(encoded && { attachments: encoded }) } as Body
}

/** The arguments of a function are limited in number. */
const bytesAtOnce = 0x8000

function base64Of(content: Uint8Array | string): string {
  if (typeof content === 'string') return content
  let bytes = ''
  for (let i = 0; i < content.length; i += bytesAtOnce)
    bytes += String.fromCharCode(...content.subarray(i, i + bytesAtOnce))
  return btoa(bytes)
}
