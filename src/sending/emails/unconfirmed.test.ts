import { expect, test } from 'bun:test'
import { instantAt, plusMs } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import { recipientDetail } from './unconfirmed.ts'

const hour = 3_600_000
const sentAt = instantAt(Date.UTC(2026, 0, 1) * 1000)
const row = {
  email_id: newId('eml'),
  position: 0,
  organization_id: newId('org'),
  email: 'a@x.test',
  type: 'to',
  status: 'sent',
  smtp_code: 250,
  enhanced_code: '2.0.0',
  detail: 'Ok: queued as A1',
  updated_at: sentAt,
} as const
const after = (ms: number) => ({ now: plusMs(sentAt, ms), afterMs: 24 * hour })

test('a sent recipient is shown with the reply, and as unconfirmed after a long time without a report', () => {
  expect(recipientDetail(row, after(24 * hour - 1))).toBe('Ok: queued as A1')
  expect(recipientDetail(row, after(26 * hour + 5))).toBe(
    'Unconfirmed: the provider accepted it, and no report of its delivery came for 26 hours. Its reply: Ok: queued as A1',
  )
  expect(recipientDetail({ ...row, detail: null }, after(24 * hour))).toBe(
    'Unconfirmed: the provider accepted it, and no report of its delivery came for 24 hours.',
  )
})

test('all other details are shown as they are', () => {
  for (const status of ['delivered', 'bounced', 'delayed', 'queued'] as const)
    expect(recipientDetail({ ...row, status }, after(100 * hour))).toBe('Ok: queued as A1')
  expect(recipientDetail(row, null)).toBe('Ok: queued as A1')
})
