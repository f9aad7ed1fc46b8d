import type { ProviderTraits } from '../port.ts'
import { brevoEmailIdField } from '../webhooks/brevo.ts'
import { mailgunEmailIdField } from '../webhooks/mailgun.ts'
import { postmarkEmailIdField } from '../webhooks/postmark.ts'
import { sendgridEmailIdField } from '../webhooks/sendgrid.ts'

/** The kind of relay, as far as it makes a difference. */
export type PresetName = 'postfix' | 'postmark' | 'mailgun' | 'sendgrid' | 'brevo' | 'none'

/** What relays of a kind do to messages. */
export interface Preset
  extends Pick<ProviderTraits, 'name' | 'returnPath' | 'messageId' | 'unsignedHeaders' | 'reports'> {
  /** Does it honour DSN parameters (RFC 3461), where it offers them? */
  readonly supportsDsn: boolean
  /** Does its reply to the final dot contain the Message-ID that it assigns? */
  readonly repliesWithMessageId: boolean
  /** Header fields for the relay, which removes them and returns the email's id in its events. */
  readonly headerFieldsFor: (emailId: string) => readonly string[]
}

const noFields = () => []

/** An MTA: keeps the envelope and the header, and sends delivery status notifications to the reverse-path. */
const postfix: Preset = {
  name: 'smarthost',
  returnPath: 'ours',
  messageId: 'kept',
  unsignedHeaders: [],
  reports: 'dsn',
  supportsDsn: true,
  repliesWithMessageId: false,
  headerFieldsFor: noFields,
}

/** What email services have in common: a reverse-path of their own, and events by webhook. */
const service = { returnPath: 'theirs', reports: 'webhook', supportsDsn: false, repliesWithMessageId: false } as const

const presets: Readonly<Record<PresetName, Preset>> = {
  postfix,
  /** An unknown relay: it may change whatever any relay changes. */
  none: {
    ...postfix,
    returnPath: 'theirs',
    messageId: 'replaced',
    unsignedHeaders: ['message-id', 'date'],
    reports: 'none',
    supportsDsn: false,
  },
  /**
   * Its reverse-path is below pm.mtasv.net or the custom Return-Path domain, whose mail it receives. It replaces the
   * Message-ID unless X-PM-KeepID is set. https://postmarkapp.com/developer/user-guide/send-email-with-smtp
   */
  postmark: {
    ...service,
    name: 'postmark',
    messageId: 'kept',
    unsignedHeaders: ['date'],
    headerFieldsFor: emailId => ['X-PM-KeepID: true', `X-PM-Metadata-${postmarkEmailIdField}: ${emailId}`],
  },
  /** https://documentation.mailgun.com/docs/mailgun/user-manual/sending-messages/send-smtp */
  mailgun: {
    ...service,
    name: 'mailgun',
    messageId: 'kept',
    unsignedHeaders: [],
    headerFieldsFor: emailId => [`X-Mailgun-Variables: ${JSON.stringify({ [mailgunEmailIdField]: emailId })}`],
  },
  /** https://www.twilio.com/docs/sendgrid/for-developers/sending-email/building-an-x-smtpapi-header */
  sendgrid: {
    ...service,
    name: 'sendgrid',
    messageId: 'kept',
    unsignedHeaders: ['date'],
    headerFieldsFor: emailId => [`X-SMTPAPI: ${JSON.stringify({ unique_args: { [sendgridEmailIdField]: emailId } })}`],
  },
  /**
   * It assigns Message-IDs (`…@smtp-relay.mailin.fr`), and adds its own List-Unsubscribe to mail of lists.
   * https://developers.brevo.com/docs/smtp-integration
   */
  brevo: {
    ...service,
    name: 'brevo',
    messageId: 'replaced',
    unsignedHeaders: ['message-id', 'date'],
    repliesWithMessageId: true,
    headerFieldsFor: emailId => [`X-Mailin-custom: ${JSON.stringify({ [brevoEmailIdField]: emailId })}`],
  },
}

export const presetNames = Object.keys(presets) as readonly PresetName[]

/** A preset; if events cannot reach us (`receivesEvents` false), it has no reports by webhook. */
export function presetOf(name: PresetName, receivesEvents: boolean): Preset {
  const preset = presets[name]
  return preset.reports === 'webhook' && !receivesEvents ? { ...preset, reports: 'none' } : preset
}
