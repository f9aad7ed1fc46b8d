import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { readManifest } from '../../src/servers/http/dashboard/manifest.ts'
import { type Dashboard, startDashboard } from '../harness/dashboard.ts'

/** What a browser with an empty cache fetches, and how soon it shows something. */
let dashboard: Dashboard

beforeAll(async () => {
  dashboard = await startDashboard()
}, 90_000)

afterAll(() => dashboard.stop())

const kib = 1024

/** The files of the dashboard that this window has fetched, compressed with gzip, in KiB, by the end of their names. */
async function fetchedKib(page: Page): Promise<{ readonly js: number; readonly css: number }> {
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(entry => entry.name))
  const files = readManifest()?.files ?? {}
  const sum = (ending: string) =>
    [...new Set(names.map(name => name.split('/').at(-1) ?? ''))]
      .filter(name => name.endsWith(ending))
      .reduce((total, name) => total + (files[name]?.gzip?.bytes ?? files[name]?.bytes ?? 0) / kib, 0)
  return { js: Math.round(sum('.js')), css: Math.round(sum('.css')) }
}

/** When the window drew something first, in milliseconds since it asked for the page. */
const paintMs = (page: Page): Promise<number> =>
  page
    .waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
    .then(async found => Math.round((await found.jsonValue()) ?? Number.NaN))

/** A page of one word, without scripts: what this machine needs for any page now. */
async function blankPaintMs(): Promise<number> {
  const blank = Bun.serve({
    port: 0,
    fetch: () => new Response('<!doctype html><title>Blank</title>Blank', { headers: { 'content-type': 'text/html' } }),
  })
  const { page, context } = await dashboard.openAsVisitor()
  try {
    await page.goto(`http://localhost:${blank.port}/`)
    return await paintMs(page)
  } finally {
    await context.close()
    await blank.stop(true)
  }
}

test('signing in is drawn from an empty cache with few files', async () => {
  const { page, open } = await dashboard.openAsVisitor()
  await open('/app/sign-in')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const { js, css } = await fetchedKib(page)
  const ms = await paintMs(page)
  // The time is told, and not judged: on a busy machine it says more of the others than of the page.
  process.stdout.write(
    `sign-in: first paint ${ms} ms (a blank page ${await blankPaintMs()} ms), ${js} KiB of JavaScript, ${css} KiB of CSS (gzip)\n`,
  )
  expect(ms).toBeGreaterThan(0)
  expect(js).toBeLessThanOrEqual(150)
  expect(css).toBeLessThanOrEqual(25)
  const requests = await page.evaluate(() => performance.getEntriesByType('resource').map(entry => entry.name))
  expect(requests.filter(name => name.includes('/app/api/')).length).toBeLessThanOrEqual(2)
  expect(requests.length).toBeLessThanOrEqual(30)
}, 90_000)

test('each screen adds little', async () => {
  const { page, open } = await dashboard.openAs({})
  await open('')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const today = await fetchedKib(page)
  process.stdout.write(`Today: ${today.js} KiB of JavaScript (gzip)\n`)
  expect(today.js).toBeLessThanOrEqual(150)
  const links = await page.getByRole('navigation').first().getByRole('link').all()
  const paths = await Promise.all(links.map(async link => (await link.getAttribute('href')) ?? ''))
  for (const path of paths) {
    await page.goto(`${dashboard.url}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const { js } = await fetchedKib(page)
    process.stdout.write(`${path.split('/').at(-1)}: ${js - today.js} KiB more than Today\n`)
    expect(js - today.js).toBeLessThanOrEqual(90)
  }
}, 120_000)
