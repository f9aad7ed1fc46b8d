import type { ProviderTraits } from '../port.ts'
import { brevoEmailIdField } from '../webhooks/brevo.ts'
import { mailgunEmailIdField } from '../webhooks/mailgun.ts'
import { postmarkEmailIdField } from '../webhooks/postmark.ts'
import { sendgridEmailIdField } from '../webhooks/sendgrid.ts'

/** Whose relay it is, as far as that changes what may be claimed. */
export type PresetName = 'postfix' | 'postmark' | 'mailgun' | 'sendgrid' | 'brevo' | 'none'

/** What a relay of a kind does to what it is handed. */
export interface Preset
  extends Pick<ProviderTraits, 'name' | 'returnPath' | 'messageId' | 'unsignedHeaders' | 'reports'> {
  /** Does it heed what is asked of delivery status notifications (RFC 3461), where it offers that? */
  readonly supportsDsn: boolean
  /** Does its reply to the final dot tell the Message-ID that it gives? */
  readonly repliesWithMessageId: boolean
  /** Header fields for the relay alone, which takes them off: by them its news name the email. */
  readonly headerFieldsFor: (emailId: string) => readonly string[]
}

const noFields = () => []

/** An MTA: keeps envelope and header, and sends notifications to the reverse-path. */
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

/** What the services have in common: a reverse-path of their own, and news by webhook. */
const service = { returnPath: 'theirs', reports: 'webhook', supportsDsn: false, repliesWithMessageId: false } as const

const presets: Readonly<Record<PresetName, Preset>> = {
  postfix,
  /** A relay of which nothing is known: nothing is claimed that it could undo. */
  none: {
    ...postfix,
    returnPath: 'theirs',
    messageId: 'replaced',
    unsignedHeaders: ['message-id', 'date'],
    reports: 'none',
    supportsDsn: false,
  },
  /**
   * Its reverse-path is below pm.mtasv.net or the custom Return-Path domain, which is its own. It replaces the Message-ID
   * unless X-PM-KeepID says not to. https://postmarkapp.com/developer/user-guide/send-email-with-smtp
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
   * It names messages itself (`…@smtp-relay.mailin.fr`) and adds its own List-Unsubscribe where a list asks for that.
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

/** A preset as it holds here: news that nobody can bring (`bringsNews` false) are not counted on. */
export function presetOf(name: PresetName, bringsNews: boolean): Preset {
  const preset = presets[name]
  return preset.reports === 'webhook' && !bringsNews ? { ...preset, reports: 'none' } : preset
}
