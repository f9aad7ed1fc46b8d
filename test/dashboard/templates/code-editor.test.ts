import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type Dashboard, startDashboard } from '../../harness/dashboard.ts'

/** The keys of the editor of a template's source, of which the browser does some and CodeMirror the others. */
let dashboard: Dashboard
let page: Page

beforeAll(async () => {
  dashboard = await startDashboard()
  const template = { name: 'Keys', slug: 'keys', subject: 'Keys', html: '<p>Hello</p>' }
  const brandId = dashboard.mailroom.demo.brand_id
  const { status, text } = await dashboard.mailroom.api('POST', '/v1/templates', { ...template, brand_id: brandId })
  if (status !== 201) throw new Error(text)
  const owner = await dashboard.openAs({})
  page = owner.page
  await owner.open('/templates/keys')
  await source().click()
}, 60_000)
afterAll(() => dashboard?.stop())

const source = () => page.getByRole('textbox', { name: 'Source of the HTML' })
const lines = () => source().locator('.cm-line').allTextContents()
const press = async (...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}

beforeEach(async () => {
  await press('Control+a', 'Delete')
  expect(await lines()).toEqual([''])
})

test('lines are divided with their indentation and joined again, with each key for deleting', async () => {
  await page.keyboard.type('  one')
  await press('Enter')
  await page.keyboard.type('two words')
  expect(await lines()).toEqual(['  one', '  two words'])
  await press('Control+Backspace', 'Backspace')
  expect(await lines()).toEqual(['  one', '  two'])
  await press('Home', 'Backspace')
  expect(await lines()).toEqual(['  one  two'])
  await press('Enter', 'Control+Home', 'End', 'Delete')
  expect(await lines()).toEqual([expect.stringMatching(/^ {2}one +two$/)])
  await press('Control+Home', 'Delete', 'Delete', 'Control+Delete')
  expect(await lines()).toEqual([expect.stringMatching(/^ +two$/)])
  await press('Enter', 'Enter', 'ArrowUp', 'ArrowUp', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Backspace')
  expect((await lines()).length).toBe(1)
})

test('all that was typed is undone and done again', async () => {
  await page.keyboard.type('<p>kept</p>')
  await press('Control+a', 'Delete')
  expect(await lines()).toEqual([''])
  await press('Control+z')
  expect(await lines()).toEqual(['<p>kept</p>'])
  await press('Control+y')
  expect(await lines()).toEqual([''])
})

test('what is not visible is selected and reached too', async () => {
  await page.keyboard.insertText(Array.from({ length: 500 }, (_, i) => `<p>line ${i + 1}</p>`).join('\n'))
  await press('Control+Home')
  await page.keyboard.type('first ')
  expect((await lines())[0]).toBe('first <p>line 1</p>')
  await press('Control+End')
  await page.keyboard.type(' last')
  expect((await lines()).at(-1)).toBe('<p>line 500</p> last')
  await press('Control+Shift+Home', 'Backspace')
  expect(await lines()).toEqual([''])
})

test('tags, attributes, values and comments have their colours, over several lines too', async () => {
  await page.keyboard.insertText('<a\n  href="https://x.test">{{ name }}</a>\n<!-- not\nsent -->\n\n< unfinished "')
  const texts = (kind: string) => source().locator(`.html-${kind}`).allTextContents()
  expect((await texts('tag')).join('')).toStartWith('<a></a>')
  expect(await texts('attribute')).toEqual(['href'])
  expect(await texts('string')).toEqual(['"https://x.test"'])
  expect(await texts('comment')).toEqual(['<!-- not', 'sent -->'])
  interface Styles {
    getComputedStyle(element: unknown): { readonly color: string }
  }
  const colour = (kind: string) =>
    source()
      .locator(`.html-${kind}`)
      .first()
      .evaluate(element => (globalThis as unknown as Styles).getComputedStyle(element).color)
  expect(new Set(await Promise.all(['tag', 'attribute', 'string', 'comment'].map(colour))).size).toBe(4)
})
