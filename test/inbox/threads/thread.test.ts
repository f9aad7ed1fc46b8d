import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SessionMember } from '../../../src/api/session/session.ts'
import { inboxSessionRoutes } from '../../../src/inbox/session-routes.ts'
import { openTextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import {
  infectedBytes,
  messageOf,
  multipart,
  openTestInbox,
  type ReceivingDomain,
  type TestInbox,
} from '../../harness/inbox.ts'
import { callAsMember, testMember } from '../../harness/session.ts'

let inbox: TestInbox
let us: ReceivingDomain
let owner: SessionMember
const texts = openTextWorker()

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  owner = testMember(inbox.server.organizationId)
})
afterAll(async () => {
  texts.close()
  await inbox.close()
})

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
async function ask(path: string, member = owner): Promise<any> {
  const { db } = inbox.server.database
  const app = inboxSessionRoutes({ db, blobs: mysqlBlobs(db, inbox.server.clock), texts })
  const response = await callAsMember(app, `/app/api/mail/${path}`, member)
  return typeof response === 'string' ? response : await response.json()
}

const deliver = (fields: readonly string[], more = {}) => inbox.deliver(messageOf(fields), `hello@${us.domain}`, more)

test('a thread has what was received and what was sent, in order; emails only for whom may read them', async () => {
  const first = await deliver(['Subject: One', `To: hello@${us.domain}`])
  const reply = (await inbox.server.call('POST', `/v1/inbox/${first}/reply`, { json: { text: 'Yes.' } })).json
  const second = await deliver(['Subject: Re: One', `In-Reply-To: <${reply.message_id}>`])
  const { thread_id } = (await inbox.server.call('GET', `/v1/inbox/${first}`)).json
  const thread = await ask(`threads/${thread_id}`)
  expect(thread.has_more).toBe(false)
  expect(
    thread.data.map((item: { kind: string; message?: { id: string }; email?: { id: string } }) => [
      item.kind,
      item.message?.id ?? item.email?.id,
    ]),
  ).toEqual([
    ['received', first],
    ['sent', reply.id],
    ['received', second],
  ])
  const reader = { ...owner, scopes: new Set(['inbox:read'] as const) }
  expect((await ask(`threads/${thread_id}`, reader)).data).toHaveLength(2)
  expect((await ask(`threads/${thread_id}`, testMember(await inbox.server.newOrganization()))).data).toEqual([])
  expect((await ask('threads/other')).data).toEqual([])
})

test('a reply goes to whom the preview names', async () => {
  const to = `To: hello@${us.domain}, Ben <ben@x.example>`
  const id = await deliver(['Subject: AW: Plan', to, 'Cc: carl@x.example', 'Reply-To: list@y.example'])
  const preview = await ask(`messages/${id}/reply-preview`)
  expect(preview).toEqual({
    from: `hello@${us.domain}`,
    subject: 'Re: Plan',
    forward_subject: 'Fwd: AW: Plan',
    reply: { to: ['list@y.example'], cc: [] },
    reply_all: { to: ['list@y.example'], cc: ['Ben <ben@x.example>', 'carl@x.example'] },
    is_quoted: true,
    is_automatic: false,
    reply_refusal: null,
    forward_refusal: null,
  })
  for (const [path, audience] of [
    ['reply', 'reply'],
    ['reply-all', 'reply_all'],
  ] as const) {
    const { json } = await inbox.server.call('POST', `/v1/inbox/${id}/${path}`, { json: { text: 'Yes.' } })
    const email = (await inbox.server.call('GET', `/v1/emails/${json.id}`)).json
    expect({ to: email.to, cc: email.cc }).toEqual(preview[audience])
  }
  expect(await ask(`messages/${id}/reply-preview`, testMember(await inbox.server.newOrganization()))).toBe('not_found')
})

test('says before anything is sent that a bounce has nobody to reply to, and that an infected message stays here', async () => {
  const bounce = await deliver(['Subject: Undelivered'], { mailFrom: '' })
  const refused = { code: 'no_reply_address', message: expect.stringContaining('empty reverse-path') }
  expect(await ask(`messages/${bounce}/reply-preview`)).toMatchObject({ reply_refusal: refused })
  const parts = [{ bytes: 'Look.' }, { disposition: 'attachment; filename=a', bytes: infectedBytes }]
  const infected = await inbox.deliver(multipart(parts, ['List-Id: <list.x.example>']), `hello@${us.domain}`)
  expect(await ask(`messages/${infected}/reply-preview`)).toMatchObject({
    is_quoted: false,
    is_automatic: true,
    forward_refusal: { code: 'attachment_infected' },
  })
})
