import { afterAll, expect, test } from 'bun:test'
import { startDashboardAsOwner } from '../../harness/dashboard.ts'
import { until } from '../../harness/until.ts'
import { look } from '../look.ts'

const { dashboard, owner } = await startDashboardAsOwner()
afterAll(() => dashboard.stop())

const timeoutMs = 60_000

test(
  'a template begins with a starter, is previewed while it is written, saved, sent as a test and deleted',
  async () => {
    const { page } = owner
    await owner.open('/templates')
    await page.getByRole('heading', { name: 'No templates yet' }).waitFor()
    await look(page, 'templates-empty')
    await page.getByRole('button', { name: /^Receipt/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'New template' }).click()
    await page.waitForURL(/\/templates\/receipt/)

    const preview = page.frameLocator('iframe[title="The template as an email"]')
    await page.getByText('Missing for a send: name, number').waitFor()
    await page.getByLabel('Preview value').nth(0).fill('Ann')
    await page.getByLabel('Preview value').nth(1).fill('1042')
    await preview.getByRole('heading', { name: 'Thank you, Ann' }).waitFor()
    await page.getByText('Missing for a send').waitFor({ state: 'detached' })

    const source = page.getByRole('textbox', { name: 'Source of the HTML' })
    await source.click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('<p>Dear {{ name }}, j k g d</p><script>parent.hacked = 1</script>')
    await preview.getByText('Dear Ann, j k g d').waitFor()
    await page.getByText('Not saved').waitFor()
    await page.getByText('Phone', { exact: true }).click()
    await look(page, 'template')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined()

    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('textbox', { name: 'To' }).fill('delivered@simulator.test')
    await page.getByRole('dialog').getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('heading', { name: 'Your receipt 1042' }).waitFor()

    await owner.open('/templates/receipt')
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.waitForURL(/\/templates\/receipt-/)
    await owner.open('/templates')
    await page.getByRole('list', { name: 'Templates' }).getByRole('listitem').nth(1).waitFor()
    await look(page, 'templates')
    await owner.open('/templates/receipt')
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The template was deleted.').waitFor()
    expect(await page.getByRole('list', { name: 'Templates' }).getByRole('listitem').count()).toBe(1)
    expect(owner.complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'whoever saves a template after someone else did decides which one stays',
  async () => {
    const { page } = owner
    const { api } = dashboard.mailroom
    const path = `/v1/templates/two?brand_id=${dashboard.mailroom.demo.brand_id}`
    const stored = async () => (await api('GET', path)).json
    const isStored = async (subject: string) => (await stored()).subject === subject || undefined
    await api('POST', '/v1/templates', {
      ...{ brand_id: dashboard.mailroom.demo.brand_id, slug: 'two', name: 'Two' },
      ...{ subject: 'At first', html: '<p>At first</p>' },
    })
    await owner.open('/templates/two')
    await page.getByLabel('Subject').fill('Mine')
    await api('PATCH', path, { subject: 'Theirs', html: '<p>Theirs</p>' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This was changed by someone else').waitFor()
    await look(page, 'template-conflict')
    expect((await stored()).subject).toBe('Theirs')
    expect(await page.getByLabel('Subject').inputValue()).toBe('Mine')
    await page.getByRole('button', { name: 'Keep what I typed' }).click()
    await until(() => isStored('Mine'), { what: 'mine is saved over theirs' })
    await page.getByText('This was changed by someone else').waitFor({ state: 'detached' })
    expect((await stored()).html).toBe('<p>At first</p>')

    await page.getByLabel('Subject').fill('Mine again')
    await api('PATCH', path, { subject: 'Theirs again', html: '<p>Theirs again</p>' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Take what was saved' }).click()
    await page.getByRole('textbox', { name: 'Source of the HTML' }).getByText('<p>Theirs again</p>').waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Theirs again')
    await page.getByText('This was changed by someone else').waitFor({ state: 'detached' })
    await page.getByLabel('Subject').fill('Mine after theirs')
    await page.getByRole('button', { name: 'Save' }).click()
    await until(() => isStored('Mine after theirs'), { what: 'what follows is saved' })
    await api('DELETE', path)
    expect(owner.complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a fault of the template is named, and a taken slug too',
  async () => {
    const { page } = owner
    for (const isTaken of [false, true]) {
      await owner.open('/templates')
      await page.getByRole('button', { name: 'New template' }).click()
      await page.getByLabel('Slug').fill('fault')
      await page.getByRole('dialog').getByRole('button', { name: 'New template' }).click()
      if (isTaken) await page.getByRole('dialog').getByText(/fault/).first().waitFor()
      else await page.waitForURL(/\/templates\/fault/)
    }
    await owner.open('/templates/fault')
    await page.getByRole('textbox', { name: 'Source of the HTML' }).click()
    await page.keyboard.type('{% if %}')
    await page.getByRole('alert').waitFor()
  },
  timeoutMs,
)
