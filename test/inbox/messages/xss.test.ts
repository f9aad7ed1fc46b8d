import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { sanitizeQuotedHtml } from '../../../src/inbox/messages/sanitize-html.ts'
import { startBrowser } from '../../harness/browser.ts'
import { multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { payloadsFor } from './html-payloads.ts'

/** What a message's HTML does in a real browser, unsanitized and as the API returns it. */
let inbox: TestInbox
let us: ReceivingDomain
let browser: Browser
let stage: Stage
let ids: readonly string[]

beforeAll(async () => {
  stage = openStage()
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  ids = await deliverAll(payloads().map(payload => payload.html))
  browser = await startBrowser()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await inbox?.close()
  await stage?.close()
}, 60_000)

interface Stage {
  /** The URL whose requests are counted. */
  readonly canary: string
  /** The numbers of the payloads that fetched that URL. */
  readonly hits: Set<number>
  /** Serves this as a page. */
  show(html: string): string
  close(): Promise<void>
}

/** A server for the pages, and a canary on another port to which no request should go. */
function openStage(): Stage {
  const hits = new Set<number>()
  const pages: string[] = []
  const canary = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      const number = Number(pathname.split('/')[1])
      hits.add(number)
      const isScript = pathname.endsWith('.js')
      return new Response(isScript ? `top.ran.push(${number})` : '', {
        headers: { 'content-type': isScript ? 'text/javascript' : 'text/plain', 'access-control-allow-origin': '*' },
      })
    },
  })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const page = pages[Number(new URL(request.url).pathname.slice(1))]
      return new Response(page ?? '', {
        status: page === undefined ? 404 : 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
      })
    },
  })
  return {
    canary: `http://127.0.0.1:${canary.port}`,
    hits,
    show: html => `http://127.0.0.1:${server.port}/${pages.push(html) - 1}`,
    async close() {
      await Promise.all([server.stop(true), canary.stop(true)])
    },
  }
}

const payloads = () => payloadsFor(number => ({ js: `top.ran.push(${number})`, url: `${stage.canary}/${number}` }))

/** What the browser did, by the number of the payload. */
interface Seen {
  readonly ran: ReadonlySet<number>
  readonly fetched: ReadonlySet<number>
  readonly dialogs: number
  readonly windows: number
}

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;')
const loadMs = 2000
const settleMs = 700

/** A frame that restricts only navigation, as if each payload were alone on a page. */
function freeFrame(html: string): string {
  const page = stage.show(`<!doctype html><meta charset="utf-8"><body>${html}`)
  return `<iframe sandbox="allow-scripts allow-same-origin allow-forms allow-modals allow-popups" src="${page}"></iframe>`
}

/** A fully sandboxed frame, as messages should be shown in. */
function strictFrame(html: string): string {
  return `<iframe sandbox srcdoc="${escaped(html)}"></iframe>`
}

/** Shows each payload alone. */
function shownAlone(htmls: readonly string[]): Promise<Seen> {
  return watched(htmls.map(freeFrame).join(''), [])
}

/** Shows them one below the other: in a page, in frames of both kinds, and inserted by a script, twice. */
function shownTogether(htmls: readonly string[]): Promise<Seen> {
  const whole = htmls.map(html => `<div>${html}</div>`).join('')
  return watched(`${whole}${freeFrame(whole)}${strictFrame(whole)}`, htmls)
}

/** Runs in the page: inserts the HTML, then inserts again what the browser made of it. */
const insertAndPoke = `async htmls => {
  for (const html of htmls) {
    const [once, again] = [document.createElement('div'), document.createElement('div')]
    document.body.append(once, again)
    once.innerHTML = html
    again.innerHTML = once.innerHTML
  }
  const events = (
    'animationend animationiteration animationstart auxclick beforeinput beforetoggle begin blur canplay change click ' +
    'contextmenu dblclick drag end error focus focusin input invalid keydown load loadstart mousedown mouseenter ' +
    'mousemove mouseover pageshow pointerdown pointerover resize scroll start submit toggle transitionend wheel'
  ).split(' ')
  const poke = async document => {
    for (const element of document.querySelectorAll('*')) {
      if (/^(?:IFRAME|FRAME|HTML|BODY|SCRIPT|BASE|META|LINK)$/.test(element.tagName) && element.ownerDocument === top.document) continue
      for (const event of events) element.dispatchEvent(new Event(event, { bubbles: false }))
      const href = element.getAttribute('href') ?? element.getAttribute('xlink:href') ?? ''
      if (!/^(?:https?|mailto|tel):/i.test(href)) element.click?.()
    }
  }
  await poke(document)
  for (const frame of document.querySelectorAll('iframe')) {
    let inner
    try { inner = frame.contentDocument } catch {}
    if (inner) await poke(inner)
  }
}`

/** Shows a page, clicks each element, and dispatches all events for which there may be a handler. */
async function watched(body: string, inserted: readonly string[]): Promise<Seen> {
  stage.hits.clear()
  let [dialogs, windows] = [0, -1]
  const context = await browser.newContext()
  context.on('page', () => windows++)
  const page = await context.newPage()
  page.on('dialog', dialog => {
    dialogs++
    void dialog.dismiss()
  })
  const whole = `<!doctype html><meta charset="utf-8"><script>ran = []</script><body>${body}`
  await page.goto(stage.show(whole), { waitUntil: 'domcontentloaded' })
  // A payload's requests may never complete.
  await page.waitForLoadState('load', { timeout: loadMs }).catch(() => undefined)
  await page.evaluate(`(${insertAndPoke})(${JSON.stringify(inserted)})`)
  // For delayed effects, such as a refresh or an animation: there is no condition to wait for when nothing happens.
  await page.waitForTimeout(settleMs)
  const ran = new Set(await page.evaluate<readonly number[]>('ran'))
  await context.close()
  return { ran, fetched: new Set(stage.hits), dialogs, windows }
}

/** Receives a message for each. Returns their ids in order. */
function deliverAll(htmls: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    htmls.map(html =>
      inbox.deliver(multipart([{ contentType: 'text/html; charset=utf-8', bytes: html }]), `a@${us.domain}`),
    ),
  )
}

/** The HTML of each message as the API returns it. */
function shownOf(ids: readonly string[], query = ''): Promise<readonly string[]> {
  return Promise.all(
    ids.map(async id => {
      const { json } = await inbox.server.call('GET', `/v1/inbox/${id}${query}`)
      expect(json.html).toBeString()
      return json.html
    }),
  )
}

const templatesOf = (numbers: Iterable<number>) => [...numbers].map(number => payloads()[number]?.template ?? number)
const nothing = { ran: [], fetched: [], dialogs: 0, windows: 0 }
const reported = ({ ran, fetched, ...rest }: Seen) => ({
  ran: templatesOf(ran),
  fetched: templatesOf(fetched),
  ...rest,
})

test('unsanitized, most of them run or fetch: the test browser notices it', async () => {
  const sample = payloads().filter((_, i) => i % 3 === 0)
  const { ran, fetched } = await shownAlone(sample.map(payload => payload.html))
  process.stdout.write(`of ${sample.length} payloads ${ran.size} ran and ${fetched.size} fetched\n`)
  expect([payloads().length > 250, ran.size > 40, fetched.size > 15]).toEqual([true, true, true])
})

test('as the API returns them, none runs or fetches', async () => {
  expect(reported(await shownTogether(await shownOf(ids)))).toEqual(nothing)
})

test('as replies quote them, none runs or fetches', async () => {
  const quoted = payloads().map(({ html }) => sanitizeQuotedHtml(html, '') ?? '')
  expect(reported(await shownTogether(quoted))).toEqual(nothing)
})

test('with remote images allowed, none runs; only then is a remote image fetched', async () => {
  const image = await deliverAll([`<p>x</p><img src="${stage.canary}/0/logo.png" alt="" />`])
  expect([...(await shownTogether(await shownOf(image))).fetched]).toEqual([])
  expect([...(await shownTogether(await shownOf(image, '?remote=allow'))).fetched]).toEqual([0])
  const { ran, dialogs, windows } = await shownTogether(await shownOf(ids, '?remote=allow'))
  expect({ ran: templatesOf(ran), dialogs, windows }).toEqual({ ran: [], dialogs: 0, windows: 0 })
})
