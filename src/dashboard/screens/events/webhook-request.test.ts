import { expect, test } from 'bun:test'
import type { Webhook } from '../webhooks/webhook.ts'
import { isSentTo, webhookRequest } from './webhook-request.ts'

const event = {
  id: 'evt_1',
  sequence: 7,
  type: 'message.received' as const,
  brand_id: 'brd_1',
  occurred_at: '2026-05-12T10:00:00.000000Z',
  data: { id: 'msg_1', mailbox_id: 'mbx_1' },
}

const webhook: Webhook = {
  id: 'whk_1',
  url: 'https://example.com/',
  types: ['message.received'],
  brand_id: null,
  mailbox_ids: [],
  description: null,
  status: 'active',
  disabled_reason: null,
  last_success_at: null,
  failing_since: null,
  secret_ends_in: 'abc=',
  created_at: '2026-05-12T10:00:00.000000Z',
  updated_at: '2026-05-12T10:00:00.000000Z',
}

test('an event goes to the webhooks whose types, brand and mailboxes it has, unless they are disabled', () => {
  expect(isSentTo(webhook, event)).toBe(true)
  expect(isSentTo({ ...webhook, status: 'failing' }, event)).toBe(true)
  expect(isSentTo({ ...webhook, status: 'disabled' }, event)).toBe(false)
  expect(isSentTo({ ...webhook, types: ['email.sent'] }, event)).toBe(false)
  expect(isSentTo({ ...webhook, brand_id: 'brd_1' }, event)).toBe(true)
  expect(isSentTo({ ...webhook, brand_id: 'brd_2' }, event)).toBe(false)
  expect(isSentTo({ ...webhook, mailbox_ids: ['mbx_1'] }, event)).toBe(true)
  expect(isSentTo({ ...webhook, mailbox_ids: ['mbx_2'] }, event)).toBe(false)
})

test('the request that is shown has the event as its body, and its id as webhook-id', () => {
  const [head = '', body = ''] = webhookRequest(event).split('\n\n')
  expect(head).toContain('webhook-id: evt_1')
  expect(JSON.parse(body)).toEqual(event)
})
