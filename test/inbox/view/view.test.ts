import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { messageResponse } from '../../../src/inbox/view/message-document.ts'
import { startBrowser } from '../../harness/browser.ts'
import { messageOf, multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { browse, outcome, type SignedIn, signInAs } from '../../servers/http/dashboard/browser.ts'
import { payloadsFor } from '../messages/html-payloads.ts'
import { stylePayloadsFor } from '../messages/style-payloads.ts'

/** Messages as the dashboard shows them: documents of the server itself, in frames of one of its pages, in a real browser. */
let inbox: TestInbox
let us: ReceivingDomain
let owner: SignedIn
let browser: Browser
const hits: string[] = []
const canary = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    hits.push(new URL(request.url).pathname)
    return new Response('', { headers: { 'access-control-allow-origin': '*' } })
  },
})

beforeAll(async () => {
  browser = await startBrowser()
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  owner = await signInAs(inbox.server, { role: 'owner' })
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await inbox?.close()
  await canary.stop(true)
}, 60_000)

const html = (bytes: string) => multipart([{ contentType: 'text/html; charset=utf-8', bytes }])
const deliver = (message: Buffer) => inbox.deliver(message, `a@${us.domain}`)
const view = (id: string, query = '') =>
  browse(inbox.server, owner, `/app/message/${id}/view${query}`, { headers: { accept: 'text/html' } })

const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

interface Picture {
  readonly contentId: string
  readonly bytes?: Buffer
  readonly type?: string
}

/** A message with HTML and pictures that it brings with it. */
function withPictures(body: string, pictures: readonly Picture[]): Buffer {
  const parts = pictures.map(
    ({ contentId, bytes = pixel, type = 'image/gif' }) =>
      `--r\r\nContent-Type: ${type}\r\nContent-ID: <${contentId}>\r\nContent-Disposition: inline\r\nContent-Transfer-Encoding: base64\r\n\r\n${bytes.toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`,
  )
  const all = `--r\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${body}\r\n${parts.join('')}--r--\r\n`
  return messageOf(['MIME-Version: 1.0', 'Content-Type: multipart/related; boundary=r'], all)
}

/** A page of the server's own origin that shows these paths in frames, as the dashboard does. */
async function showInFrames(page: Page, paths: readonly string[]): Promise<void> {
  const frames = paths.map(
    path =>
      `<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" src="${path.replaceAll('&', '&amp;')}"></iframe>`,
  )
  const address = `${inbox.server.url}/app/frames`
  await page.route(address, route =>
    route.fulfill({ contentType: 'text/html', body: `<!doctype html>${frames.join('')}` }),
  )
  await page.goto(address, { waitUntil: 'load' })
  await page.waitForTimeout(500)
  await page.unroute(address)
}

async function newPage(): Promise<Page> {
  const context = await browser.newContext()
  const { hostname } = new URL(inbox.server.url)
  await context.addCookies([
    { name: 'mailroom', value: owner.cookie, domain: hostname, path: '/', httpOnly: true, sameSite: 'Strict' },
  ])
  return context.newPage()
}

/** Which of the documents ran something, and what was fetched meanwhile. */
async function watched(paths: readonly string[]) {
  hits.length = 0
  const page = await newPage()
  let dialogs = 0
  let windows = 0
  page.on('dialog', dialog => {
    dialogs++
    void dialog.dismiss()
  })
  page.context().on('page', () => windows++)
  const ran: string[] = []
  let shown = 0
  for (let at = 0; at < paths.length; at += 8) {
    await showInFrames(page, paths.slice(at, at + 8))
    for (const frame of page.frames().slice(1)) {
      shown += (await frame.locator('main').count()) === 1 ? 1 : 0
      if (await frame.evaluate('document.documentElement.hasAttribute("data-ran")')) ran.push(frame.url())
    }
  }
  await page.context().close()
  return { shown, ran, fetched: [...hits], dialogs, windows }
}

const traps = (number: number) => ({
  js: `document.documentElement.setAttribute("data-ran",${number});top.ran.push(${number})`,
  url: `http://127.0.0.1:${canary.port}/${number}`,
})
/** Several in a message, one after the other: each frame costs the browser a process. Alone they are in xss.test.ts. */
const messagesOf = (htmls: readonly string[]) =>
  Array.from({ length: Math.ceil(htmls.length / 30) }, (_, i) =>
    htmls
      .slice(30 * i, 30 * i + 30)
      .map(payload => `<div>${payload}</div>`)
      .join(''),
  )
const payloads = () => messagesOf(payloadsFor(traps).map(({ html }) => html))
/** There are thousands, of few kinds. */
const stylePayloads = () =>
  messagesOf(
    stylePayloadsFor(traps)
      .filter((_, i) => i % 15 === 0)
      .map(({ html }) => html),
  )

test('unsanitized, and without the headers of the document, scripts run and fetch: the test notices it', async () => {
  const page = await newPage()
  hits.length = 0
  await page.setContent(payloads().slice(0, 2).join(''))
  await page.waitForTimeout(500)
  expect([hits.length > 0, await page.evaluate('document.documentElement.hasAttribute("data-ran")')]).toEqual([
    true,
    true,
  ])
  await page.context().close()
})

test('no payload runs, fetches or opens anything', async () => {
  const ids = await Promise.all([...payloads(), ...stylePayloads()].map(body => deliver(html(body))))
  const blocked = await watched(ids.map(id => `/app/message/${id}/view`))
  expect(blocked).toEqual({ shown: ids.length, ran: [], fetched: [], dialogs: 0, windows: 0 })
  const allowed = await watched(ids.map(id => `/app/message/${id}/view?remote=allow`))
  // Pictures may come over https alone, and the canary has none.
  expect(allowed).toEqual({ shown: ids.length, ran: [], fetched: [], dialogs: 0, windows: 0 })
}, 120_000)

test('the headers of the document alone keep scripts and requests out, whatever the sanitizer lets through', async () => {
  const htmls = [...payloads(), ...stylePayloads()]
  const unsanitized = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const body = htmls[Number(new URL(request.url).pathname.slice(1))]
      return messageResponse({ html: body ?? '', text: null, allowsRemotePictures: false, notices: [] })
    },
  })
  hits.length = 0
  const page = await newPage()
  for (const number of htmls.keys()) {
    await page.goto(`http://127.0.0.1:${unsanitized.port}/${number}`, { waitUntil: 'domcontentloaded' })
    await page.waitForTimeout(50)
    expect(await page.evaluate('document.documentElement.hasAttribute("data-ran")')).toBe(false)
  }
  expect(hits).toEqual([])
  await page.context().close()
  await unsanitized.stop(true)
}, 60_000)

test('the document is closed by its headers, also when it is opened by itself', async () => {
  const id = await deliver(html('<p>Hello</p>'))
  const { headers } = await view(id)
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
  )
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect((await view(id, '?remote=allow')).headers.get('content-security-policy')).toContain('img-src data: https:;')
})

test('pictures that came with the message are in their place; too many or too large ones are counted', async () => {
  const small = await deliver(
    withPictures('<p>x</p><img src="cid:one@x" alt="One"><img src="cid:none" alt="None">', [{ contentId: 'one@x' }]),
  )
  const { text } = await view(small)
  expect(text).toContain(`<img src="data:image/gif;base64,${pixel.toString('base64')}" alt="One"`)
  expect(text).toContain('1 picture of this message is not shown in place')
  const page = await newPage()
  await showInFrames(page, [`/app/message/${small}/view`])
  expect(await page.frames()[1]?.evaluate('document.images[0].naturalWidth')).toBe(1)
  await page.context().close()

  const many = Array.from({ length: 32 }, (_, i) => ({ contentId: `p${i}@x` }))
  const shown = await view(
    await deliver(withPictures(many.map(({ contentId }) => `<img src="cid:${contentId}">`).join(''), many)),
  )
  expect(shown.text.match(/src="data:image/g)).toHaveLength(30)
  expect(shown.text).toContain('2 pictures of this message are not shown in place')
  const large = { contentId: 'large@x', bytes: Buffer.alloc(4 * 1024 * 1024 + 1) }
  expect((await view(await deliver(withPictures('<img src="cid:large@x">', [large])))).text).not.toContain('data:image')
  const script = {
    contentId: 'svg@x',
    type: 'image/svg+xml',
    bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  }
  expect((await view(await deliver(withPictures('<img src="cid:svg@x">', [script])))).text).not.toContain('data:image')
})

test('a link opens apart, without a referrer, after it was shown where it leads', async () => {
  const target = `http://127.0.0.1:${canary.port}/target?a=1&b=2`
  const id = await deliver(html(`<p><a title="bank.test" href="${target.replace('&', '&amp;')}">bank.test</a></p>`))
  const page = await newPage()
  await showInFrames(page, [`/app/message/${id}/view`])
  const frame = page.frames()[1]
  const link = frame?.locator('a')
  await link?.hover()
  expect(await link?.getAttribute('title')).toBe(target)
  expect(await frame?.evaluate("getComputedStyle(document.querySelector('a'), '::after').content")).toBe(`"${target}"`)
  const [opened] = await Promise.all([page.context().waitForEvent('page'), link?.click()])
  await opened.waitForLoadState()
  expect([opened.url(), await opened.evaluate('window.opener'), await opened.evaluate('document.referrer')]).toEqual([
    target,
    null,
    '',
  ])
  await page.context().close()
})

test('plain text keeps its lines, has links, and runs in its own direction', async () => {
  const body = 'שלום <b>\r\n\r\nSee https://a.test/x.\r\n'
  const { text } = await view(await deliver(messageOf(['Content-Type: text/plain; charset=utf-8'], Buffer.from(body))))
  expect(text).toContain('<pre dir="auto">שלום &lt;b&gt;\n\nSee <a href="https://a.test/x"')
  expect((await view(await deliver(messageOf([], '')))).text).toContain('This message has no text.')
})

test('who may not read the message gets a page that says so, in the frame', async () => {
  const id = await deliver(html('<p>Hello</p>'))
  const path = `/app/message/${id}/view`
  const asPage = { headers: { accept: 'text/html' } }
  const visitor = await browse(inbox.server, null, path, asPage)
  expect([visitor.status, visitor.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
  expect(visitor.headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
  const member = await signInAs(inbox.server, { role: 'member', brandIds: [us.brandId], permissions: ['email:read'] })
  expect((await browse(inbox.server, member, path, asPage)).status).toBe(403)
  expect(outcome(await browse(inbox.server, member, path))).toBe('403 insufficient_scope')
  const other = await inbox.createReceivingDomain()
  const elsewhere = await signInAs(inbox.server, {
    role: 'member',
    brandIds: [other.brandId],
    permissions: ['inbox:read'],
  })
  const restricted = await browse(inbox.server, elsewhere, path)
  expect([outcome(restricted), restricted.json.error.message]).toEqual([
    '403 brand_restricted',
    `You act in another brand than that of the message ${id}.`,
  ])
  expect(
    outcome(await browse(inbox.server, owner, `${path}?organization=${await inbox.server.newOrganization()}`)),
  ).toBe('404 not_found')
  expect(outcome(await browse(inbox.server, owner, `${path}?remote=yes`))).toBe('400 invalid_request')
  expect((await inbox.server.call('GET', path)).status).toBe(401)
})

test('a sent email is shown in the same way', async () => {
  const sent = await inbox.server.call('POST', '/v1/emails', {
    json: {
      from: `hello@${us.domain}`,
      to: 'you@friend.test',
      subject: 'x',
      html: '<p>Sent</p><script>alert(1)</script><img src="cid:logo">',
      attachments: [
        { filename: 'logo.gif', content_type: 'image/gif', content: pixel.toString('base64'), content_id: 'logo' },
      ],
    },
  })
  expect(sent.status).toBe(202)
  const { text, headers } = await browse(inbox.server, owner, `/app/sent-email/${sent.json.id}/view`)
  expect(text).toContain('<p>Sent</p>')
  expect(text).toContain(`src="data:image/gif;base64,${pixel.toString('base64')}"`)
  expect(text).not.toContain('alert(1)')
  expect(headers.get('content-security-policy')).toContain('sandbox')
  expect(outcome(await browse(inbox.server, owner, '/app/sent-email/eml_x/view'))).toBe('404 not_found')
})
