import type { components } from './generated/api.ts'

export type { Attachment, EmailInput, ForwardInput, ReplyInput } from './attachments.ts'
export { type ErrorCode, MailroomConnectionError, MailroomError } from './errors.ts'
export { Mailroom } from './mailroom.ts'
export type { CallOptions, Fetch, MailroomOptions } from './options.ts'
export type { Page, Pages } from './pages.ts'
export type { EventFilter, EventStream, MailroomEvent } from './resources/events.ts'
export { verifyWebhook, type WebhookOptions, type WebhookRequest, WebhookVerificationError } from './verify-webhook.ts'

/** What the API gives and takes, by the names of its description: `Schemas['EmailDetail']`. */
export type Schemas = components['schemas']
