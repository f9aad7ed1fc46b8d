import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { sanitizeHtml, sanitizeQuotedHtml } from '../../../src/inbox/sanitize-html/sanitize-html.ts'
import { startBrowser } from '../../harness/browser.ts'

/** Newsletters of our own writing, in the manner of those that people get, as they look before and after. */
const folder = join(import.meta.dir, '../../fixtures/newsletters')
const names = readdirSync(folder).map(file => file.replace('.html', ''))

let browser: Browser
let page: Page
let server: Bun.Server<undefined>
const pages: string[] = []

beforeAll(async () => {
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: ({ url }) => serve(new URL(url).pathname) })
  browser = await startBrowser()
  page = await browser.newPage()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop(true)
}, 60_000)

/** A page by its number, or an image by its size and colour. */
function serve(path: string): Response {
  const [, width, height, color] = /^\/image\/(\d+)x(\d+)\/([\da-f]{6})$/.exec(path) ?? []
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#${color}"/></svg>`
  if (width !== undefined) return new Response(svg, { headers: { 'content-type': 'image/svg+xml' } })
  const isSandboxed = path.startsWith('/sandboxed/')
  return new Response(pages[Number(path.split('/').at(-1))] ?? '', {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      ...(isSandboxed ? { 'content-security-policy': sandboxPolicy } : {}),
    },
  })
}

/** Of a document in which a dashboard shows a message. */
const sandboxPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups allow-popups-to-escape-sandbox"

function newsletter(name: string): string {
  const html = readFileSync(join(folder, `${name}.html`), 'utf8')
  return html.replaceAll('{images}', `http://127.0.0.1:${server.port}/image`)
}

/** A page of the reader's, as the message is shown in. */
function readersPage(html: string | null): string {
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
  return `<!doctype html><html><head>${head}</head><body style="margin:0">${html}</body></html>`
}

interface Screen {
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
}

/** As high as the message is. */
async function screenshot(html: string, { width, colorScheme }: Screen, below = ''): Promise<string> {
  await page.setViewportSize({ width, height: 100 })
  await page.emulateMedia({ colorScheme })
  await page.goto(`http://127.0.0.1:${server.port}${below}/${pages.push(html) - 1}`)
  const png = await page.screenshot({ fullPage: true })
  return png.toString('base64')
}

/** The share of pixels that differ visibly, in a page, between two images. */
const comparison = `async ([one, other]) => {
  const load = async png => {
    const image = new Image()
    image.src = 'data:image/png;base64,' + png
    await image.decode()
    return image
  }
  const images = [await load(one), await load(other)]
  const [width, height] = ['width', 'height'].map(side => Math.max(...images.map(image => image[side])))
  const [a, b] = images.map(image => {
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, width, height).data
  })
  let different = 0
  for (let i = 0; i < a.length; i += 4) if ([0, 1, 2, 3].some(k => Math.abs(a[i + k] - b[i + k]) > 24)) different++
  return different / (width * height)
}`

async function difference(one: string, other: string): Promise<number> {
  if (one === other) return 0
  return page.evaluate<number>(`(${comparison})(${JSON.stringify([one, other])})`)
}

const wide: Screen = { width: 800, colorScheme: 'light' }
const narrow: Screen = { width: 400, colorScheme: 'light' }
const dark: Screen = { width: 800, colorScheme: 'dark' }

/** Shares of all pixels. Without a document type, lines are less high than in the reader's page. */
const maxDifference = (html: string) => (/^\s*<!doctype/i.test(html) ? 0.002 : 0.025)

test.each(names)('%s looks after sanitizing as it did before', async name => {
  const html = newsletter(name)
  const sanitized = readersPage(sanitizeHtml(html, 'allow'))
  for (const screen of [wide, narrow, ...(html.includes('prefers-color-scheme') ? [dark] : [])]) {
    const differing = await difference(await screenshot(html, screen), await screenshot(sanitized, screen))
    process.stdout.write(`${name} at ${screen.width}, ${screen.colorScheme}: ${(100 * differing).toFixed(2)} %\n`)
    expect(differing).toBeLessThan(maxDifference(html))
  }
})

/** They have quotation marks before and after an element, and columns that are only for wide screens. */
const namesWithConditions = ['two-columns', 'compiled-columns']

test.each(names.filter(name => !namesWithConditions.includes(name)))(
  '%s looks the same on a wide screen where its style element is dropped',
  async name => {
    const sanitized = sanitizeHtml(newsletter(name), 'allow') ?? ''
    const dropped = sanitized.replace(/^<style>[^<]*<\/style>/, '')
    expect(dropped).not.toContain('<style')
    const [before, after] = [
      await screenshot(readersPage(sanitized), wide),
      await screenshot(readersPage(dropped), wide),
    ]
    expect(await difference(before, after)).toBeLessThan(0.002)
  },
)

test.each(names)('%s looks on a phone in a sandboxed document as it does in a page', async name => {
  const sanitized = readersPage(sanitizeHtml(newsletter(name), 'block'))
  const sandboxed = await screenshot(sanitized, narrow, '/sandboxed')
  // Pixels are compared in a page that may run scripts and load data.
  expect(await difference(await screenshot(sanitized, narrow), sandboxed)).toBe(0)
})

test.each(names)('%s stays small when it is quoted', name => {
  const html = newsletter(name)
  const quoted = sanitizeQuotedHtml(html, '') ?? ''
  expect(quoted).not.toMatch(/<style|class=|<img|url\(/)
  expect(quoted.length).toBeLessThan(2 * html.length)
})
