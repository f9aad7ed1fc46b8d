import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { sanitizeQuotedHtml } from '../../../src/inbox/sanitize-html/sanitize-html.ts'
import { startBrowser } from '../../harness/browser.ts'
import { multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { payloadsFor } from './html-payloads.ts'
import { openPayloadStage, type PayloadStage, type Seen } from './payload-stage.ts'

/** What a message's HTML does in a real browser, unsanitized and as the API returns it. */
let inbox: TestInbox
let us: ReceivingDomain
let browser: Browser
let stage: PayloadStage
let ids: readonly string[]

beforeAll(async () => {
  browser = await startBrowser()
  stage = openPayloadStage(browser)
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  ids = await deliverAll(payloads().map(payload => payload.html))
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await inbox?.close()
  await stage?.close()
}, 60_000)

const payloads = () => payloadsFor(number => ({ js: `top.ran.push(${number})`, url: `${stage.canary}/${number}` }))

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
  const { ran, fetched } = await stage.shownAlone(sample.map(payload => payload.html))
  process.stdout.write(`of ${sample.length} payloads ${ran.size} ran and ${fetched.size} fetched\n`)
  expect([payloads().length > 250, ran.size > 40, fetched.size > 15]).toEqual([true, true, true])
})

test('as the API returns them, none runs or fetches', async () => {
  expect(reported(await stage.shownTogether(await shownOf(ids)))).toEqual(nothing)
})

test('as replies quote them, none runs or fetches', async () => {
  const quoted = payloads().map(({ html }) => sanitizeQuotedHtml(html, '') ?? '')
  expect(reported(await stage.shownTogether(quoted))).toEqual(nothing)
})

test('with remote images allowed, none runs; only then is a remote image fetched', async () => {
  const image = await deliverAll([`<p>x</p><img src="${stage.canary}/0/logo.png" alt="" />`])
  expect([...(await stage.shownTogether(await shownOf(image))).fetched]).toEqual([])
  expect([...(await stage.shownTogether(await shownOf(image, '?remote=allow'))).fetched]).toEqual([0])
  const { ran, dialogs, windows } = await stage.shownTogether(await shownOf(ids, '?remote=allow'))
  expect({ ran: templatesOf(ran), dialogs, windows }).toEqual({ ran: [], dialogs: 0, windows: 0 })
})
