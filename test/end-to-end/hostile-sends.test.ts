import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail, headerValues, unstuffed } from '../harness/relayed-messages.ts'
import { type RelayedMessage, type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

let relay: ScriptedRelay
let mailroom: Mailroom
let canary: { readonly url: string; readonly hits: readonly string[]; stop(): Promise<void> }

beforeAll(async () => {
  relay = await startScriptedRelay()
  canary = openCanary()
  mailroom = await startMailroom({ MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: relay.url })
}, 60_000)
afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
  await canary?.stop()
}, 60_000)

/** A web server that nothing has a reason to request. */
function openCanary() {
  const hits: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      hits.push(request.url)
      return new Response('fetched by the server')
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, hits, stop: () => server.stop(true) }
}

const payloads = [
  'x\r\nBcc: evil@x.test',
  'x\nBcc: evil@x.test',
  'x\rBcc: evil@x.test',
  'x\r\n\r\nevil body',
  'x\r\n Bcc: evil@x.test',
  'x\r\n.\r\nMAIL FROM:<evil@x.test>\r\nRCPT TO:<evil@x.test>\r\nDATA\r\n',
  'x\n.\nMAIL FROM:<evil@x.test>',
  'x\0Bcc: evil@x.test',
  'x\u0085Bcc: evil@x.test',
  'x\u2028Bcc: evil@x.test',
  'x%0d%0aBcc: evil@x.test',
  '=?utf-8?q?x=0d=0aBcc:_evil@x.test?=',
  '"; filename=evil; Bcc: evil@x.test; x="',
  'a@b.test>\r\nRCPT TO:<evil@x.test',
  'a@b.test> ORCPT=rfc822;evil@x.test',
  'a@b.test, evil@x.test',
  'g: a@b.test, evil@x.test;',
  'Name <a@b.test> <evil@x.test>',
  'a@b.test (comment) evil@x.test',
  '"evil@x.test"@b.test',
  '<@relay.test:evil@x.test>',
  'evil%x.test@b.test',
] as const

const file = { filename: 'a.txt', content: 'aGVsbG8=' }

/** A request for each text field of a send, with `text` in it. */
const fields: Readonly<Record<string, (text: string) => object>> = {
  from: text => ({ from: text }),
  'name in from': text => ({ from: `${text} <hello@demo.test>` }),
  'quoted name in from': text => ({ from: `"${text.replaceAll('"', '\\"')}" <hello@demo.test>` }),
  to: text => ({ to: text }),
  'to, second': text => ({ to: ['you@friend.test', text] }),
  'name in to': text => ({ to: `"${text.replaceAll('"', '\\"')}" <you@friend.test>` }),
  cc: text => ({ cc: [text] }),
  bcc: text => ({ bcc: [text] }),
  reply_to: text => ({ reply_to: text }),
  subject: text => ({ subject: text }),
  text: text => ({ text }),
  html: text => ({ html: `<p>${text}</p>` }),
  filename: text => ({ attachments: [{ ...file, filename: text }] }),
  content: text => ({ attachments: [{ ...file, content: text }] }),
  content_type: text => ({ attachments: [{ ...file, content_type: text }] }),
  'parameter of content_type': text => ({ attachments: [{ ...file, content_type: `text/plain; name=${text}` }] }),
  content_id: text => ({ attachments: [{ ...file, content_id: text }] }),
  'header value': text => ({ headers: { 'X-Thing': text } }),
  'header name': text => ({ headers: { [text]: 'x' } }),
  references: text => ({ headers: { References: text } }),
  'list-unsubscribe': text => ({ headers: { 'List-Unsubscribe': text } }),
  'tag name': text => ({ tags: [{ name: text, value: 'x' }] }),
  'tag value': text => ({ tags: [{ name: 'x', value: text }] }),
  metadata: text => ({ metadata: { [text]: text } }),
  scheduled_at: text => ({ scheduled_at: text }),
  template: text => ({ template: text, variables: { x: text } }),
}

const plain = { from: 'hello@demo.test', to: 'you@friend.test', subject: 'Plain', text: 'Hello.' }

async function relayed(id: string): Promise<readonly RelayedMessage[]> {
  const isFinal = async () => {
    const { status } = (await mailroom.api('GET', `/v1/emails/${id}`)).json
    return ['sent', 'failed', 'bounced', 'rejected'].includes(status)
  }
  await until(isFinal, { what: `${id} relayed` })
  return groupByEmail(relay.accepted).get(id) ?? []
}

const ourFields =
  /^(Received|DKIM-Signature|Date|From|To|Cc|Reply-To|Subject|Message-ID|MIME-Version|Content-Type|Content-Transfer-Encoding|References|List-Unsubscribe|X-Thing|X-Mailroom-Id|Feedback-ID)$/i

/** Checks everything that was sent: envelope, header, line ends. */
function expectClean({ from, to, wire }: RelayedMessage, payload: string): void {
  expect(from).not.toContain('evil')
  // What stands before the @ is the business of those after it.
  expect(to.filter(value => !/@(friend|b)\.test>?$/.test(value))).toEqual([])
  const text = wire.toString('latin1')
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  const message = unstuffed({ from, to, wire, connection: 0 })
  const header = message.slice(0, message.indexOf('\r\n\r\n'))
  expect(header).not.toContain('\0')
  const names = header
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n')
    .map(line => line.slice(0, line.indexOf(':')))
  expect(names.filter(name => !ourFields.test(name) && name.toLowerCase() !== payload.toLowerCase())).toEqual([])
  expect(headerValues(message, 'Bcc')).toEqual([])
  for (const name of ['From', 'To', 'Subject', 'Message-ID'])
    expect([name, headerValues(message, name).length]).toEqual([name, 1])
}

describe('a line break injected into', () => {
  for (const [field, fill] of Object.entries(fields))
    test(`${field} is refused, or stays what it says`, async () => {
      const commandsBefore = relay.commands.length
      for (const payload of payloads) {
        const email = { ...plain, ...fill(payload) }
        const { status, json, text } = await mailroom.api('POST', '/v1/emails', email)
        const what = `${field} ${JSON.stringify(payload)}: ${status} ${text}`
        expect([what, [202, 400, 403, 422].includes(status)]).toEqual([what, true])
        if (status !== 202) continue
        for (const { email: address } of json.recipients) expect(address).not.toBe('evil@x.test')
        const taken = await relayed(json.id)
        expect([what, taken.length >= 1]).toEqual([what, true])
        for (const relayedMessage of taken) expectClean(relayedMessage, payload)
      }
      const commands = relay.commands.slice(commandsBefore).join('\n')
      expect(commands).not.toMatch(/<evil@x\.test>/)
    }, 60_000)
})

describe('a send that names a file or a URL', () => {
  const places = [
    'file:///etc/passwd',
    '/etc/passwd',
    '../../../../etc/passwd',
    'CANARY/x',
    'data:text/plain,x',
  ] as const
  const inAttachment = ['path', 'href', 'url', 'raw', 'file', 'encoding', 'contentType', 'cid', 'headers'] as const

  test('in a property of nodemailer is refused', async () => {
    for (const name of inAttachment)
      for (const place of places) {
        const attachments = [{ ...file, [name]: place.replace('CANARY', canary.url) }]
        const { status, json } = await mailroom.api('POST', '/v1/emails', { ...plain, attachments })
        expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', `attachments[0].${name}`])
      }
    for (const name of [
      'raw',
      'path',
      'attachment',
      'alternatives',
      'envelope',
      'icalEvent',
      'amp',
      'watchHtml',
      'list',
    ]) {
      const { status, json } = await mailroom.api('POST', '/v1/emails', { ...plain, [name]: { path: '/etc/passwd' } })
      expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', name])
    }
    for (const name of ['text', 'html', 'subject'])
      for (const value of [{ path: '/etc/passwd' }, { href: canary.url }]) {
        const { status, json } = await mailroom.api('POST', '/v1/emails', { ...plain, [name]: value })
        expect([status, json.error.param]).toEqual([400, name])
      }
  })

  test('as the content of an attachment is not valid base64', async () => {
    for (const place of places) {
      const content = place.replace('CANARY', canary.url)
      const called = await mailroom.api('POST', '/v1/emails', { ...plain, attachments: [{ ...file, content }] })
      expect([called.status, called.json.error.param]).toEqual([400, 'attachments[0].content'])
    }
  })

  test('in its html is sent unchanged: nothing is read or fetched', async () => {
    const html = places
      .map(place => place.replace('CANARY', canary.url))
      .map(
        at =>
          `<img src="${at}"><link rel="stylesheet" href="${at}"><iframe src="${at}"></iframe><a href="${at}">x</a><style>@import url("${at}")</style>`,
      )
      .join('\n')
    const { json, status } = await mailroom.api('POST', '/v1/emails', { ...plain, text: null, html })
    expect(status).toBe(202)
    const [taken] = await relayed(json.id)
    const message = taken ? unstuffed(taken) : ''
    const decoded = (await mailroom.api('GET', `/v1/emails/${json.id}/content`)).json
    expect(decoded.html.replaceAll('\r\n', '\n').trimEnd()).toBe(html)
    expect(`${message}${decoded.text}`).not.toMatch(/root:x:|fetched by the server/)
    expect(canary.hits).toEqual([])
  })
})
