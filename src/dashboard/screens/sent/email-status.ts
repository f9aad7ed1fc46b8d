import type { Tone } from '../../components/text/Status.tsx'

/** The statuses of an email, in the order of its way. */
export const emailStatuses = [
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delayed',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'rejected',
  'failed',
  'canceled',
] as const
export type EmailStatus = (typeof emailStatuses)[number]

const tones: Readonly<Record<EmailStatus, Tone>> = {
  scheduled: 'waits',
  queued: 'waits',
  sending: 'waits',
  // The relay has it: not that it was delivered.
  sent: 'info',
  delayed: 'warn',
  delivered: 'good',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'off',
  rejected: 'bad',
  failed: 'bad',
  canceled: 'off',
}

export function isEmailStatus(text: unknown): text is EmailStatus {
  return (emailStatuses as readonly unknown[]).includes(text)
}

/** How a status is drawn. Only `delivered` is green. */
export function statusTone(status: string): Tone {
  return isEmailStatus(status) ? tones[status] : 'off'
}
