import { afterAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { startDashboardAsOwner } from '../../harness/dashboard.ts'
import { look } from '../look.ts'

const { dashboard, owner } = await startDashboardAsOwner()
afterAll(() => dashboard.stop())

const timeoutMs = 60_000

const send = (fields: object) =>
  dashboard.mailroom.api('POST', '/v1/emails', {
    from: 'Demo <hello@demo.test>',
    to: 'silent@x.example',
    subject: 'Hello',
    text: 'Hello',
    ...fields,
  })

test(
  'an organization that has sent nothing sees how to, from its own domain',
  async () => {
    await owner.open('/sent')
    const { page } = owner
    await page.getByRole('heading', { name: 'Nothing sent yet' }).waitFor()
    await page.getByText('"from": "hello@demo.test"').waitFor()
    await look(page, 'sent-empty')
    expect(owner.complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'the list is a snapshot: what is sent meanwhile is counted, and shown when one asks for it',
  async () => {
    for (let i = 1; i <= 60; i++)
      await send({ subject: `Number ${i}`, tags: [{ name: 'kind', value: i % 2 ? 'odd' : 'even' }] })
    const { page } = owner
    await owner.open('/sent')
    const rows = page.getByRole('list', { name: 'Sent emails' }).getByRole('listitem')
    await page.getByText('Number 60').waitFor()
    expect(await rows.count()).toBe(50)
    for (let i = 61; i <= 63; i++) await send({ subject: `Number ${i}` })
    await page.getByRole('button', { name: '3 new' }).waitFor()
    expect(await page.getByText('Number 63').count()).toBe(0)
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('Number 1', { exact: true }).waitFor()
    expect(await rows.count()).toBe(60)
    await page.getByRole('button', { name: '3 new' }).click()
    await page.getByText('Number 63').waitFor()
    await look(page, 'sent-list')
  },
  timeoutMs,
)

test(
  'filters by status and tag are in the URL and survive a reload; that by recipient is not',
  async () => {
    const { page } = owner
    await send({ to: 'rare@x.example', subject: 'Rare', tags: [{ name: 'kind', value: 'odd' }] })
    await owner.open('/sent')
    await page.getByRole('textbox', { name: 'Tag' }).fill('kind:odd')
    await page.getByRole('textbox', { name: 'Recipient' }).fill('rare@x.example')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('Number 59').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Rare' }).waitFor()
    expect(page.url()).toContain('tag=kind')
    expect(page.url()).not.toContain('rare')
    await page.getByLabel('Status').selectOption('bounced')
    await page.getByRole('heading', { name: 'No email matches' }).waitFor()
    expect(page.url()).toContain('status=bounced')
    await page.reload()
    expect(await page.getByLabel('Status').inputValue()).toBe('bounced')
    expect(await page.getByRole('textbox', { name: 'Tag' }).inputValue()).toBe('kind:odd')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('Number 63').waitFor()
  },
  timeoutMs,
)

test(
  'j, Enter and Escape go through the list, and the export holds what the filter matches',
  async () => {
    const { page } = owner
    await owner.open('/sent?tag=kind:even')
    await page.getByText('Number 60').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Number 58' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Export CSV' }).waitFor()
    await owner.open('/sent?tag=kind:even')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^sent-\d{4}-\d\d-\d\d\.csv$/)
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines).toHaveLength(31)
    expect(lines[1]).toContain('Number 60')
  },
  timeoutMs,
)
