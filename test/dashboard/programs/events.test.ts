import { afterAll, expect, test } from 'bun:test'
import { $ } from 'bun'
import { permissions } from '../../../src/accounts/keys/permissions.ts'
import { expectNoAxeViolations, startDashboardAsOwner } from '../../harness/dashboard.ts'
import { sendMail } from '../../harness/smtp-delivery.ts'
import { look } from '../look.ts'

const { dashboard, owner } = await startDashboardAsOwner({ name: 'Olivia Park' })
afterAll(() => dashboard.stop())

const timeoutMs = 120_000

const send = (subject: string, to = 'you@friend.test') =>
  dashboard.mailroom.api('POST', '/v1/emails', { from: 'Demo <hello@demo.test>', to, subject, text: 'Hello' })

const receive = (subject: string) =>
  sendMail(
    dashboard.mailroom.smtp,
    `From: Anna <anna@friend.test>\r\nTo: hello@demo.test\r\nSubject: ${subject}\r\n\r\nIs anyone there?`,
  )

test(
  'events are listed newest first, narrowed by type, and unfold as the feed and a webhook have them',
  async () => {
    const { page, open, complaints } = owner
    await open('/events')
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
    expect(await receive('A question')).toStartWith('250')
    expect((await send('The answer')).status).toBe(202)
    await page.getByRole('button', { name: /new$/ }).waitFor({ timeout: 30_000 })
    await page.getByRole('button', { name: /new$/ }).click()
    const rows = page.getByRole('list', { name: 'Events' }).getByRole('listitem')
    await rows.filter({ hasText: 'message.received' }).first().waitFor()
    await page.getByLabel('Which events').selectOption('message')
    await page.waitForURL(/type=message/)
    await rows.filter({ hasText: 'A question' }).waitFor()
    expect(await rows.filter({ hasText: 'email.' }).count()).toBe(0)
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const json = JSON.parse(
      (await page.getByRole('figure', { name: 'Event', exact: true }).locator('code').textContent()) ?? '',
    )
    expect(json).toMatchObject({ type: 'message.received', data: { subject: 'A question' } })
    expect(json).not.toHaveProperty('cursor')
    await page.getByText('As a webhook gets it').click()
    await page.getByText(`webhook-id: ${json.id}`).waitFor()
    await page.getByText('No webhook gets events of this kind.').waitFor()
    await look(page, 'events')
    await page.getByRole('link', { name: 'Open the message' }).click()
    await page.getByRole('heading', { name: 'A question' }).waitFor()
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'the line that is copied from an event follows what came after it',
  async () => {
    const { page, open, context } = owner
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: dashboard.url })
    await open('/events?type=message.received')
    await page.getByRole('button', { name: 'Details of message.received' }).click()
    await page.getByRole('button', { name: 'Copy the curl line from here' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const line = await page.evaluate<string>('navigator.clipboard.readText()')
    await receive('After the question')
    const { key } = dashboard.mailroom
    const followed = await $`sh -c ${line.replace('curl ', 'curl -s -m 5 ')}`
      .env({ ...process.env, MAILROOM_KEY: key })
      .nothrow()
      .quiet()
    const data = [...followed.stdout.toString().matchAll(/^data: (.*)$/gm)].map(([, text = '']) => JSON.parse(text))
    expect(data.map(event => event.data.subject)).toEqual(['After the question'])
  },
  timeoutMs,
)

test(
  'live, new events appear by themselves',
  async () => {
    const { page, open, complaints } = owner
    await open('/events?live=true')
    const rows = page.getByRole('list', { name: 'Events' }).getByRole('listitem')
    await rows.first().waitFor()
    await send('While looking on')
    await rows.filter({ hasText: 'While looking on' }).first().waitFor({ timeout: 5_000 })
    await rows.filter({ hasText: 'email.sent' }).filter({ hasText: 'While looking on' }).waitFor()
    await expectNoAxeViolations(page)
    expect(complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'a member sees the events that their permissions show, and no other types to choose',
  async () => {
    const { page, open } = await dashboard.openAs({
      access: {
        role: 'member',
        brandIds: [dashboard.mailroom.demo.brand_id],
        permissions: permissions.filter(permission => permission === 'email:read'),
      },
    })
    await open('/events')
    const rows = page.getByRole('list', { name: 'Events' }).getByRole('listitem')
    await rows.filter({ hasText: 'email.sent' }).first().waitFor()
    expect(await rows.filter({ hasText: 'message.received' }).count()).toBe(0)
    const offered = await page.getByLabel('Which events').locator('option').allTextContents()
    expect(offered).toContain('email.bounced')
    expect(offered).not.toContain('message.received')
  },
  timeoutMs,
)
