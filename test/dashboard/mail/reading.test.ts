import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { startDashboardAsOwner } from '../../harness/dashboard.ts'
import { until } from '../../harness/until.ts'
import { deliver } from './letters.ts'

const { dashboard, owner } = await startDashboardAsOwner({ email: 'owner@example.com' })
const { page } = owner
afterAll(() => dashboard.stop())
beforeEach(async () => {
  await db().deleteFrom('messages').execute()
})

const db = () => dashboard.mailroom.database.db
const subjects = () => page.locator('[data-open]').allInnerTexts()
const row = (subject: string) => page.getByRole('listitem').filter({ hasText: subject })
const toast = (text: string) => page.getByRole('status').filter({ hasText: text }).first()
const folderOf = async (id: string) =>
  (
    await db()
      .selectFrom('messages')
      .select(['folder', 'is_read', 'starred'])
      .where('id', '=', id as never)
      .execute()
  )[0]
const becomes = (id: string, expected: object) =>
  until(async () => Bun.deepMatch(expected, (await folderOf(id)) ?? {}) || undefined, {
    what: `${id} becomes ${JSON.stringify(expected)}`,
  })

describe('new mail', () => {
  test('is on the screen within two seconds of its final dot, in an empty list by itself', async () => {
    await owner.open('/mail/inbox')
    await page.getByText('No mail here yet').waitFor()
    await deliver(dashboard.mailroom, [{ subject: 'First of all' }])
    const start = performance.now()
    await row('First of all').waitFor({ timeout: 2000 })
    process.stdout.write(`in an empty list after ${Math.round(performance.now() - start)} ms\n`)
    await page.getByRole('link', { name: /Inbox.*1/s }).waitFor({ timeout: 2000 })
  })

  test('moves no row until the person wants to see it', async () => {
    await deliver(dashboard.mailroom, [{ subject: 'Old' }])
    await owner.open('/mail/inbox')
    await row('Old').waitFor()
    const start = performance.now()
    await deliver(dashboard.mailroom, [{ subject: 'New one' }, { subject: 'New two' }])
    await page.getByRole('button', { name: /^Show [12] new$/ }).waitFor({ timeout: 2000 })
    process.stdout.write(`counted after ${Math.round(performance.now() - start)} ms, delivery included\n`)
    await page.getByRole('button', { name: 'Show 2 new' }).waitFor({ timeout: 2500 })
    expect(await subjects()).toEqual(['Old'])
    await page.getByRole('button', { name: 'Show 2 new' }).click()
    expect(await subjects()).toEqual(['New two', 'New one', 'Old'])
    expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0)
  })

  test('that came while the page was offline is counted once it is back', async () => {
    await deliver(dashboard.mailroom, [{ subject: 'Before' }])
    await owner.open('/mail/inbox')
    await row('Before').waitFor()
    await owner.context.setOffline(true)
    await deliver(dashboard.mailroom, [{ subject: 'While away' }])
    await page.waitForTimeout(1500)
    await owner.context.setOffline(false)
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor({ timeout: 15_000 })
    await page.getByRole('button', { name: 'Show 1 new' }).click()
    expect(await subjects()).toEqual(['While away', 'Before'])
  })
})

describe('acts', () => {
  test('go to the row that they were drawn on; the next message opens, and Undo puts it back', async () => {
    const [first = '', second = '', third = ''] = await deliver(dashboard.mailroom, [
      { subject: 'One' },
      { subject: 'Two' },
      { subject: 'Three' },
    ])
    await owner.open('/mail/inbox')
    await row('Two').getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor()
    await becomes(second, { is_read: 1, folder: 'inbox' })
    await page.keyboard.press('#')
    await page.getByRole('heading', { level: 1, name: 'One' }).waitFor()
    await becomes(second, { folder: 'trash' })
    expect(await subjects()).toEqual(['Three', 'One'])
    await toast('1 message moved to the trash.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await becomes(second, { folder: 'inbox' })
    expect(await subjects()).toEqual(['Three', 'Two', 'One'])
    expect(await folderOf(first)).toMatchObject({ folder: 'inbox' })
    expect(await folderOf(third)).toMatchObject({ folder: 'inbox', is_read: 0 })
  })

  test('read, star, archive and trash by the keyboard alone', async () => {
    const [one = '', two = ''] = await deliver(dashboard.mailroom, [{ subject: 'One' }, { subject: 'Two' }])
    await owner.open('/mail/inbox')
    await row('Two').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('s')
    await becomes(two, { starred: 1 })
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'One' }).waitFor()
    await page.keyboard.press('k')
    await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor()
    await becomes(two, { is_read: 1 })
    await page.keyboard.press('u')
    await becomes(two, { is_read: 0 })
    await page.waitForURL(/\/mail\/inbox/)
    await row('One').getByRole('link').focus()
    await page.keyboard.press('e')
    await becomes(one, { folder: 'archive' })
    expect(await subjects()).toEqual(['Two'])
    await page.locator('[data-open]:focus').filter({ hasText: 'Two' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('#e')
    expect(await folderOf(two)).toMatchObject({ folder: 'inbox' })
  })

  test('a message in the trash goes back to the inbox, and can be taken from there again', async () => {
    const [id = ''] = await deliver(dashboard.mailroom, [{ subject: 'Thrown away' }])
    await dashboard.mailroom.api('DELETE', `/v1/inbox/${id}`)
    await owner.open('/mail/trash')
    await row('Thrown away').getByRole('link').click()
    await page.getByRole('button', { name: 'Move to inbox' }).click()
    await becomes(id, { folder: 'inbox' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await becomes(id, { folder: 'trash' })
    await row('Thrown away').waitFor()
  })

  test('what is ticked is moved together, and what failed is drawn back', async () => {
    const ids = await deliver(dashboard.mailroom, [{ subject: 'One' }, { subject: 'Two' }, { subject: 'Three' }])
    await owner.open('/mail/inbox')
    await row('Three').getByRole('checkbox').check()
    await row('One')
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] })
    await page.getByText('3 selected').waitFor()
    await page.route('**/v1/inbox/bulk', route => route.abort(), { times: 1 })
    await page.getByRole('button', { name: 'Archive' }).click()
    await toast('The server does not answer').waitFor()
    expect(await subjects()).toEqual(['Three', 'Two', 'One'])
    await row('Two').getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Archive' }).click()
    await becomes(ids[1] ?? '', { folder: 'archive' })
    expect(await subjects()).toEqual(['Three', 'One'])
  })

  test('all that match are counted first, then changed, also those behind “more”', async () => {
    const [id = ''] = await deliver(dashboard.mailroom, [{ subject: 'Many' }])
    const pattern = await db()
      .selectFrom('messages')
      .selectAll()
      .where('id', '=', id as never)
      .executeTakeFirstOrThrow()
    const copies = Array.from({ length: 120 }, (_, i) => ({
      ...pattern,
      id: `${id.slice(0, -3)}${String(i).padStart(3, '0')}`,
    }))
    await db()
      .insertInto('messages')
      .values(copies.filter(copy => copy.id !== id) as never)
      .execute()
    const inInbox = async () =>
      (await db().selectFrom('messages').select('id').where('folder', '=', 'inbox').execute()).length
    const total = await inInbox()
    await owner.open('/mail/inbox')
    await row('Many').first().waitFor()
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check()
    await page.getByRole('button', { name: 'Select all that match' }).click()
    await page.getByText(`All ${total} messages in Inbox`).waitFor()
    await page.getByRole('button', { name: 'Move to trash' }).click()
    await page.getByRole('heading', { name: `Delete ${total} messages?` }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await toast(`${total} messages changed.`).waitFor()
    expect(await inInbox()).toBe(0)
    await page.getByText('No mail here yet').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await until(async () => (await inInbox()) === total || undefined, { what: 'all are back' })
  })
})

test('a search is explained, finds words and phrases, and leaves no trace in the URL', async () => {
  await deliver(dashboard.mailroom, [
    { subject: 'Secret plan', body: 'The blue elephant dances.\r\n' },
    { subject: 'Other plan', body: 'Nothing blue.\r\n' },
  ])
  await until(
    async () =>
      (await dashboard.mailroom.api('GET', '/v1/inbox/search?q=elephant')).json.data.length > 0 ? true : undefined,
    { what: 'the message is indexed' },
  )
  await owner.open('/mail/inbox')
  await row('Secret plan').waitFor()
  await page.getByRole('button', { name: 'How to search' }).click()
  await page.getByText('these words, next to each other').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox', { name: 'Search mail' }).fill('"blue elephant"')
  await page.keyboard.press('Enter')
  await page.getByText('1 message found').waitFor()
  expect(await subjects()).toEqual(['Secret plan'])
  await page.getByText('with “blue elephant”').waitFor()
  expect(page.url()).not.toMatch(/elephant/)
  await row('Secret plan').getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'Secret plan' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('1 message found').waitFor()
  await page.getByRole('searchbox', { name: 'Search mail' }).fill('-blue')
  await page.keyboard.press('Enter')
  await page.getByText('Add a word to look for').waitFor()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await row('Other plan').waitFor()
  expect(await subjects()).toEqual(['Other plan', 'Secret plan'])
})

test('nothing was complained of', () => {
  expect(owner.complaints).toEqual([])
})
