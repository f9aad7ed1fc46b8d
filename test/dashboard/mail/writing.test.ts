import { afterAll, describe, expect, test } from 'bun:test'
import { startDashboardAsOwner } from '../../harness/dashboard.ts'
import { until } from '../../harness/until.ts'
import { deliver } from './letters.ts'

const { dashboard, owner } = await startDashboardAsOwner({ email: 'owner@example.com' })
const { page } = owner
afterAll(() => dashboard.stop())

const api = (method: string, path: string, body?: object) => dashboard.mailroom.api(method, path, body)
const toast = (text: string) => page.getByRole('status').filter({ hasText: text }).first()
const drafts = async () => (await api('GET', '/v1/drafts')).json.data
const emailCalled = (subject: string) =>
  until(
    async () =>
      (await api('GET', '/v1/emails?limit=200')).json.data.find(
        (email: { subject: string }) => email.subject === subject,
      ),
    { what: `an email with the subject ${subject}` },
  )
const saved = () =>
  page
    .getByRole('status')
    .filter({ hasText: /^Saved$/ })
    .waitFor()

/** Opens the fields of Cc and Bcc with this button, and writes in both. */
async function addCopies(button: string) {
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('textbox', { name: 'Cc', exact: true }).fill('Carl <carl@x.example>, cleo@x.example')
  await page.getByRole('textbox', { name: 'Bcc', exact: true }).fill('boss@x.example')
}

/** The email goes to those whom {@link addCopies} wrote. */
async function expectCopies({ id, cc }: { readonly id: string; readonly cc: readonly string[] }) {
  expect(cc).toEqual(['Carl <carl@x.example>', 'cleo@x.example'])
  const { recipients } = (await api('GET', `/v1/emails/${id}`)).json
  const bcc = recipients.filter((one: { type: string }) => one.type === 'bcc')
  expect(bcc).toMatchObject([{ email: 'boss@x.example' }])
}

describe('a reply', () => {
  test('goes to whom the page said, into the thread, with the right headers', async () => {
    const [id = ''] = await deliver(dashboard.mailroom, [
      { subject: 'The plan', fields: ['Cc: Carl <carl@x.example>, other@demo.test', 'References: <a@x.example>'] },
    ])
    await owner.open(`/mail/m/${id}`)
    await page.getByRole('heading', { level: 1, name: 'The plan' }).waitFor()
    await page.keyboard.press('a')
    const panel = page.getByRole('region', { name: 'Reply to all' })
    await panel.getByText('Carl <carl@x.example>').waitFor()
    expect(await panel.getByText('other@demo.test').count()).toBe(0)
    await panel.getByLabel('Your text').fill('Agreed.')
    await panel.getByRole('button', { name: 'Send', exact: true }).click()
    await toast('It goes out in 10 seconds.').waitFor()
    const email = await emailCalled('Re: The plan')
    expect(email).toMatchObject({
      status: 'scheduled',
      to: ['Ann Lee <ann@sender.example>'],
      cc: ['Carl <carl@x.example>'],
    })
    const content = (await api('GET', `/v1/emails/${email.id}/content`)).json
    const field = (name: string) => content.headers.find((one: { name: string }) => one.name === name)?.value
    const message = (await api('GET', `/v1/inbox/${id}`)).json
    expect(field('In-Reply-To')).toBe(`<${message.message_id}>`)
    expect(field('References')).toBe(`<a@x.example> <${message.message_id}>`)
    expect(content.text).toStartWith('Agreed.\n')
    expect(content.text).toContain('> Hello, this is the text.')
    await page.getByText('2 in this conversation').waitFor()
    await until(async () => (await api('GET', `/v1/emails/${email.id}`)).json.status === 'sent' || undefined, {
      what: 'the reply is sent',
      withinMs: 20_000,
    })
  })

  test('is not sent after Undo, and its text is there again', async () => {
    const [id = ''] = await deliver(dashboard.mailroom, [{ subject: 'Too quick' }])
    await owner.open(`/mail/m/${id}`)
    await page.getByRole('heading', { level: 1, name: 'Too quick' }).waitFor()
    await page.keyboard.press('r')
    await page.getByLabel('Your text').fill('No!')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Undo' }).click()
    await toast('Not sent').waitFor()
    expect((await emailCalled('Re: Too quick')).status).toBe('canceled')
    await page.getByRole('button', { name: 'Reply', exact: true }).last().click()
    expect(await page.getByLabel('Your text').inputValue()).toBe('No!')
    await page.getByRole('button', { name: 'Discard' }).click()
  })

  test('has nobody to go to after a bounce, and the page says so before one writes', async () => {
    const [id = ''] = await deliver(dashboard.mailroom, [{ subject: 'Undelivered', mailFrom: '' }])
    await owner.open(`/mail/m/${id}`)
    await page.getByRole('heading', { level: 1, name: 'Undelivered' }).waitFor()
    await page.keyboard.press('r')
    await page.getByText('has an empty reverse-path').waitFor()
    expect(await page.getByLabel('Your text').count()).toBe(0)
  })

  test('a forward goes to the pasted addresses and the copies, with its text', async () => {
    const [id = ''] = await deliver(dashboard.mailroom, [{ subject: 'For you' }])
    await owner.open(`/mail/m/${id}`)
    await page.getByRole('heading', { level: 1, name: 'For you' }).waitFor()
    await page.keyboard.press('f')
    const panel = page.getByRole('region', { name: 'Forward' })
    await panel.getByRole('textbox', { name: 'To' }).fill('Zoe <zoe@z.example>; yan@y.example')
    await addCopies('Add copies')
    await panel.getByLabel('Your text').fill('See below.')
    await panel.getByRole('button', { name: 'Send', exact: true }).click()
    const email = await emailCalled('Fwd: For you')
    expect(email).toMatchObject({ to: ['Zoe <zoe@z.example>', 'yan@y.example'] })
    await expectCopies(email)
  })
})

describe('a new message', () => {
  const write = async (subject: string, text = 'Hello.') => {
    await owner.open('/mail/compose')
    await page.getByLabel('Name before the @').waitFor()
    await page.getByRole('textbox', { name: 'To' }).fill('bob@b.example')
    await page.getByLabel('Subject').fill(subject)
    await page.getByLabel('Text').fill(text)
  }

  test('is saved as one types, sent once, and taken back as a draft', async () => {
    await write('Saved while typing')
    await saved()
    await page.waitForURL(/\/drafts\/drf_/)
    await page.getByLabel('Text').press('End')
    await page.keyboard.type(' And more.')
    await saved()
    expect(await drafts()).toMatchObject([
      {
        subject: 'Saved while typing',
        to: ['bob@b.example'],
        text: 'Hello. And more.',
        from: 'Ann Lee <hello@demo.test>',
      },
    ])
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.waitForURL(/\/drafts\/drf_/)
    expect(await page.getByLabel('Text').inputValue()).toBe('Hello. And more.')
    expect((await emailCalled('Saved while typing')).status).toBe('canceled')
    expect(await drafts()).toHaveLength(1)
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.waitForURL(/\/mail\/inbox/)
    expect(await drafts()).toEqual([])
  })

  test('changed elsewhere says so to whoever saves later, who decides which text stays', async () => {
    await write('Two windows')
    await saved()
    const { id } = (await drafts())[0]
    await api('PATCH', `/v1/drafts/${id}`, { text: 'Theirs.' })
    await page.getByLabel('Text').fill('Mine.')
    await page.getByText('This draft was changed elsewhere').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('It was not sent, because it could not be saved first').waitFor()
    expect((await api('GET', `/v1/drafts/${id}`)).json.text).toBe('Theirs.')
    await page.getByRole('button', { name: 'Take what was saved' }).click()
    await until(async () => (await page.getByLabel('Text').inputValue()) === 'Theirs.' || undefined, {
      what: 'theirs is shown',
    })
    await api('PATCH', `/v1/drafts/${id}`, { text: 'Theirs again.' })
    await page.getByLabel('Text').fill('Mine.')
    await page.getByRole('button', { name: 'Keep what I typed' }).click()
    await until(async () => (await api('GET', `/v1/drafts/${id}`)).json.text === 'Mine.' || undefined, {
      what: 'mine is saved',
    })
    await api('DELETE', `/v1/drafts/${id}`)
    await page.getByLabel('Text').fill('Still mine.')
    await page.getByText('This draft was sent or deleted elsewhere').waitFor()
    await page.getByRole('button', { name: 'Keep it as a new draft' }).click()
    await until(async () => (await drafts())[0]?.text === 'Still mine.' || undefined, { what: 'it is a draft again' })
    await api('DELETE', `/v1/drafts/${(await drafts())[0].id}`)
  })

  test('is kept on the device while the server is away, also when the page is loaded again, and saved after', async () => {
    await owner.open('/mail/compose')
    await page.getByLabel('Name before the @').waitFor()
    await page.route('**/v1/drafts*', route => route.abort())
    await page.getByLabel('Subject').fill('Nothing is lost')
    await page.getByText('The server is away. What you type is kept on this device.').waitFor()
    await page.reload()
    await page.getByText('This is what you typed last time').waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Nothing is lost')
    await page.unroute('**/v1/drafts*')
    await page.getByRole('button', { name: 'Keep what I typed' }).click()
    await saved()
    const [draft] = await drafts()
    expect(draft.subject).toBe('Nothing is lost')
    await api('DELETE', `/v1/drafts/${draft.id}`)
  })

  test('carries attachments, goes to those of Cc and Bcc too, and may be scheduled', async () => {
    await write('With a file')
    await addCopies('Cc and Bcc')
    await saved()
    await page
      .getByLabel('Attach files')
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('the plan') })
    await page.getByText('plan.txt').waitFor()
    await page.getByRole('button', { name: 'Send later' }).click()
    await page.getByRole('menuitem', { name: 'Tomorrow at 8:00' }).click()
    await toast('Scheduled for').waitFor()
    const email = await emailCalled('With a file')
    expect(email).toMatchObject({ status: 'scheduled', attachment_count: 1 })
    await expectCopies(email)
    expect(Date.parse(email.scheduled_at) - Date.now()).toBeGreaterThan(60_000)
    await until(async () => (await drafts()).length === 0 || undefined, { what: 'the draft is gone' })
    await api('POST', `/v1/emails/${email.id}/cancel`)
  })

  test('that the server refuses stays, with its words at the field', async () => {
    await write('To nobody')
    await page.getByRole('textbox', { name: 'To' }).fill('not an address,')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('alert').first().waitFor()
    expect(await page.getByRole('alert').allTextContents()).toEqual([expect.stringContaining('to[1]')])
    expect(await page.getByLabel('Subject').inputValue()).toBe('To nobody')
    for (const { id } of await drafts()) await api('DELETE', `/v1/drafts/${id}`)
  })
})

test('a member of one brand writes without drafts: what is typed stays on the device', async () => {
  const member = await dashboard.openAs({
    email: 'member@example.com',
    access: {
      role: 'member',
      brandIds: [dashboard.mailroom.demo.brand_id],
      permissions: ['inbox:read', 'inbox:write', 'email:send', 'domains:read'],
    },
  })
  await member.open('/mail/compose')
  await member.page.getByText('Kept on this device only').waitFor()
  // The sender is filled in once the domains are known.
  await until(async () => (await member.page.getByLabel('Name before the @').inputValue()) !== '')
  await member.page.getByRole('textbox', { name: 'To' }).fill('bob@b.example')
  await member.page.getByLabel('Subject').fill('From a member')
  await member.page.getByLabel('Text').fill('Hello.')
  await member.page.getByRole('button', { name: 'Send', exact: true }).click()
  expect((await emailCalled('From a member')).status).toBe('scheduled')
  await member.page.getByRole('link', { name: /Inbox/ }).waitFor()
  expect(await member.page.getByRole('link', { name: 'Drafts' }).count()).toBe(0)
  expect(member.complaints).toEqual([])
})

test('nothing was complained of', () => {
  expect(owner.complaints).toEqual([])
})
