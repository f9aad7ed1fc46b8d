import type { Browser } from 'playwright-core'

/** What the browser did, by the number of the payload. */
export interface Seen {
  readonly ran: ReadonlySet<number>
  readonly fetched: ReadonlySet<number>
  readonly dialogs: number
  readonly windows: number
}

/** Shows HTML in a browser, and sees what it runs and fetches. A payload runs `top.ran.push(number)`. */
export interface PayloadStage {
  /** A URL below which each payload has its number. */
  readonly canary: string
  /** Shows each payload alone. */
  shownAlone(htmls: readonly string[]): Promise<Seen>
  /** Shows them one below the other: in a page, in frames of two kinds, and inserted by a script, twice. */
  shownTogether(htmls: readonly string[]): Promise<Seen>
  close(): Promise<void>
}

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;')
const loadMs = 2000
const settleMs = 700

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

/** Opens a server for the pages, and a canary on another port to which no request should go. */
export function openPayloadStage(browser: Browser): PayloadStage {
  const hits = new Set<number>()
  const pages: string[] = []
  const canary = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      const number = Number.parseInt(pathname.slice(1), 10)
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
  const show = (html: string) => `http://127.0.0.1:${server.port}/${pages.push(html) - 1}`

  /** A frame that restricts only navigation, as if each payload were alone on a page. */
  const freeFrame = (html: string) => {
    const page = show(`<!doctype html><meta charset="utf-8"><body>${html}`)
    return `<iframe sandbox="allow-scripts allow-same-origin allow-forms allow-modals allow-popups" src="${page}"></iframe>`
  }
  /** A fully sandboxed frame, as messages should be shown in. */
  const strictFrame = (html: string) => `<iframe sandbox srcdoc="${escaped(html)}"></iframe>`

  /** Shows a page, clicks each element, and dispatches all events for which there may be a handler. */
  async function watched(body: string, inserted: readonly string[]): Promise<Seen> {
    hits.clear()
    let [dialogs, windows] = [0, -1]
    const context = await browser.newContext()
    context.on('page', () => windows++)
    const page = await context.newPage()
    page.on('dialog', dialog => {
      dialogs++
      void dialog.dismiss()
    })
    const whole = `<!doctype html><meta charset="utf-8"><script>ran = []</script><body>${body}`
    await page.goto(show(whole), { waitUntil: 'domcontentloaded' })
    // A payload's requests may never complete.
    await page.waitForLoadState('load', { timeout: loadMs }).catch(() => undefined)
    await page.evaluate(`(${insertAndPoke})(${JSON.stringify(inserted)})`)
    // For delayed effects, such as a refresh or an animation: there is no condition to wait for when nothing happens.
    await page.waitForTimeout(settleMs)
    const ran = new Set(await page.evaluate<readonly number[]>('ran'))
    await context.close()
    return { ran, fetched: new Set(hits), dialogs, windows }
  }

  return {
    canary: `http://127.0.0.1:${canary.port}`,
    shownAlone: htmls => watched(htmls.map(freeFrame).join(''), []),
    shownTogether(htmls) {
      const whole = htmls.map(html => `<div>${html}</div>`).join('')
      return watched(`${whole}${freeFrame(whole)}${strictFrame(whole)}`, htmls)
    },
    async close() {
      await Promise.all([server.stop(true), canary.stop(true)])
    },
  }
}
