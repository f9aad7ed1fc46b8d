import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { sanitizeHtml, sanitizeQuotedHtml } from '../../../src/inbox/sanitize-html/sanitize-html.ts'
import { startBrowser } from '../../harness/browser.ts'
import { openPayloadStage, type PayloadStage, type Seen } from './payload-stage.ts'
import { type StylePayload, stylePayloadsFor } from './style-payloads.ts'

/** What a message's styles do in a real browser. */
let browser: Browser
let stage: PayloadStage
let payloads: readonly StylePayload[]

beforeAll(async () => {
  browser = await startBrowser()
  stage = openPayloadStage(browser)
  payloads = stylePayloadsFor(number => ({ js: `top.ran.push(${number})`, url: `${stage.canary}/${number}` }))
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await stage?.close()
}, 60_000)

const nothing = { ran: [], fetched: [], dialogs: 0, windows: 0 }
const templatesOf = (numbers: Iterable<number>) => [...numbers].map(number => payloads[number]?.template ?? number)
const reported = ({ ran, fetched, ...rest }: Seen) => ({
  ran: templatesOf(ran),
  fetched: templatesOf(fetched),
  ...rest,
})

test('unsanitized, many of them fetch, and some run: the test browser notices it', async () => {
  const sample = payloads.filter((_, i) => i % 30 === 0 || i > payloads.length - 70)
  const [ran, fetched] = [new Set<number>(), new Set<number>()]
  for (let i = 0; i < sample.length; i += 40) {
    const seen = await stage.shownAlone(sample.slice(i, i + 40).map(payload => payload.html))
    for (const number of seen.ran) ran.add(number)
    for (const number of seen.fetched) fetched.add(number)
  }
  process.stdout.write(
    `of ${payloads.length} payloads, ${sample.length} were shown: ${ran.size} ran and ${fetched.size} fetched\n`,
  )
  expect([payloads.length > 2000, ran.size > 10, fetched.size > 40]).toEqual([true, true, true])
}, 120_000)

test('sanitized, none runs or fetches', async () => {
  expect(reported(await stage.shownTogether(payloads.map(({ html }) => sanitizeHtml(html, 'block') ?? '')))).toEqual(
    nothing,
  )
}, 120_000)

test('as replies quote them, none runs or fetches', async () => {
  const quoted = payloads.map(({ html }) => sanitizeQuotedHtml(html, '') ?? '')
  expect(reported(await stage.shownTogether(quoted))).toEqual(nothing)
}, 120_000)

test('with remote images allowed, none runs, and only backgrounds, list images and img elements are fetched', async () => {
  const allowed = payloads.map(({ html }) => sanitizeHtml(html, 'allow') ?? '')
  const { ran, fetched, dialogs, windows } = await stage.shownTogether(allowed)
  const wrongly = [...fetched].filter(
    number => !payloads[number]?.isImage && !/<img[^>]* src="?\{url\}/.test(payloads[number]?.template ?? ''),
  )
  process.stdout.write(`${fetched.size} images were fetched\n`)
  expect({ ran: templatesOf(ran), dialogs, windows, wrongly: templatesOf(wrongly) }).toEqual({
    ran: [],
    dialogs: 0,
    windows: 0,
    wrongly: [],
  })
  expect(fetched.size).toBeGreaterThan(50)
}, 120_000)

test('a style element ends only where we end it, and every selector in it is a class of ours', () => {
  for (const { html } of payloads)
    for (const remote of ['block', 'allow'] as const) {
      const shown = sanitizeHtml(html, remote) ?? ''
      const [, sheet = ''] = /^<style>(.*?)<\/style>/s.exec(shown) ?? []
      expect(sheet).not.toContain('<')
      expect(shown.slice(sheet.length + 8)).not.toMatch(/<style|<\/style(?!>)/i)
      const selectors = sheet.replace(/'[^']*'/g, "''").match(/[^{};\n]+(?=\{)/g) ?? []
      for (const selector of selectors)
        expect(selector).toMatch(/^(?:@media [ \w:,.()-]+|\.m[\da-f]{10}-\d+(?::where\(:[a-z-]+\))*(?:::[a-z-]+)?)$/)
    }
})
