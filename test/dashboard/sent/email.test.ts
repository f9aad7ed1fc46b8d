import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { dayMs, plusMs, systemClock } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { startDashboardAsOwner } from '../../harness/dashboard.ts'
import { until } from '../../harness/until.ts'
import { look } from '../look.ts'

const { dashboard, owner } = await startDashboardAsOwner()
afterAll(() => dashboard.stop())

const timeoutMs = 60_000

/** Sends from the demo's domain; gives the id. */
async function send(fields: object): Promise<string> {
  const { json, status } = await dashboard.mailroom.api('POST', '/v1/emails', {
    from: 'Demo <hello@demo.test>',
    subject: 'Hello',
    text: 'Hello',
    ...fields,
  })
  if (status !== 202) throw new Error(JSON.stringify(json))
  return json.id
}

/** The states of a recipient's rungs on the page, from the first; where they left the ladder stands `off` or `harmless`. */
async function rungsOf(recipient: string): Promise<readonly (string | null)[]> {
  const steps = owner.page.getByRole('list', { name: `Steps of ${recipient}` }).locator('> li')
  return Promise.all((await steps.all()).map(step => step.getAttribute('data-state')))
}

const ladders: Readonly<Record<string, readonly [status: string, rungs: readonly string[]]>> = {
  'delivered@simulator.test': ['delivered', ['proven', 'proven', 'proven', 'open']],
  'bounce@simulator.test': ['bounced', ['proven', 'proven', 'off', 'missed', 'missed']],
  'softbounce@simulator.test': ['bounced', ['proven', 'proven', 'off', 'missed', 'missed']],
  'complaint@simulator.test': ['complained', ['proven', 'proven', 'proven', 'off', 'missed']],
  'delay@simulator.test': ['delayed', ['proven', 'delayed', 'open', 'open']],
  'reject@simulator.test': ['rejected', ['proven', 'off', 'missed', 'missed', 'missed']],
  'blocked@x.example': ['suppressed', ['proven', 'harmless', 'missed', 'missed', 'missed']],
  'silent@x.example': ['sent', ['proven', 'proven', 'waiting', 'open']],
}

test(
  'each recipient of the simulator has the ladder of what happened, with the literal line',
  async () => {
    await dashboard.mailroom.api('POST', '/v1/suppressions', {
      email: 'blocked@x.example',
      brand_id: dashboard.mailroom.demo.brand_id,
    })
    const id = await send({
      to: Object.keys(ladders),
      subject: 'Your order 1042 is on its way',
      html: '<h1>On its way</h1><p>Thank you.</p><script>parent.hacked = true</script>',
      tags: [{ name: 'kind', value: 'receipt' }],
    })
    await until(
      async () => {
        const { json } = await dashboard.mailroom.api('GET', `/v1/emails/${id}`)
        return json.recipients.every((row: { email: string; status: string }) => ladders[row.email]?.[0] === row.status)
      },
      {
        what: 'all reports of the simulator are recorded',
        withinMs: 20_000,
        details: async () => JSON.stringify((await dashboard.mailroom.api('GET', `/v1/emails/${id}`)).json.recipients),
      },
    )
    await owner.open(`/sent/${id}`)
    const { page } = owner
    await page.getByRole('heading', { name: 'Your order 1042' }).waitFor()
    const closed = page.locator('details:not([open]) > summary').filter({ hasText: '@' })
    while ((await closed.count()) > 0) await closed.first().click()
    for (const [recipient, [, rungs]] of Object.entries(ladders))
      expect([recipient, await rungsOf(recipient)]).toEqual([recipient, [...rungs]])
    expect(await page.getByText('550 5.1.1 No such user (simulated)').count()).toBeGreaterThan(0)
    expect(await page.getByText('451 4.7.1 Try again later (simulated)').count()).toBeGreaterThan(0)
    await page.getByText('POST /v1/emails').waitFor()
    const content = page.frameLocator('iframe[title="The email as it was sent"]')
    await content.getByRole('heading', { name: 'On its way' }).waitFor()
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
    await look(page, 'sent-email')
    expect(owner.complaints).toEqual([])
  },
  timeoutMs,
)

test(
  'an address is suppressed and freed from its ladder, and a scheduled email is canceled and written again',
  async () => {
    const id = await send({
      to: 'later@x.example',
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    await owner.open(`/sent/${id}`)
    const { page } = owner
    const actions = page.getByRole('button', { name: 'Actions for later@x.example' })
    await actions.click()
    await page.getByRole('menuitem', { name: 'Suppress this address' }).click()
    await page.getByText('The address is suppressed: nothing more is sent to it.').waitFor()
    await actions.click()
    await page.getByRole('menuitem', { name: 'Remove the suppression' }).click()
    await page.getByText('The address is not suppressed any more.').waitFor()
    await page.getByRole('button', { name: 'Cancel sending' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel sending' }).click()
    await page.getByText('The email was canceled.').waitFor()
    await until(async () => (await rungsOf('later@x.example')).includes('harmless'), { what: 'the ladder says so' })
    expect(await page.getByRole('button', { name: 'Cancel sending' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Write again' }).click()
    await page.waitForURL(/\/drafts\/drf_/)
    await page.getByText('later@x.example').first().waitFor()
  },
  timeoutMs,
)

test(
  'after a day without a report the step says that nobody told us, and why',
  async () => {
    const id = await send({ to: 'silent@x.example' })
    await until(async () => (await dashboard.mailroom.api('GET', `/v1/emails/${id}`)).json.status === 'sent', {
      what: 'the sandbox took it',
    })
    await dashboard.mailroom.database.db
      .updateTable('email_recipients')
      .set({ updated_at: plusMs(systemClock.now(), -2 * dayMs) })
      .where('email_id', '=', id as Id<'eml'>)
      .execute()
    await owner.open(`/sent/${id}`)
    await owner.page.getByText('Unconfirmed: nobody told us. This relay reports').waitFor()
    expect(await rungsOf('silent@x.example')).toEqual(['proven', 'proven', 'unconfirmed', 'open'])
  },
  timeoutMs,
)

/** The page follows a new width of the window a moment later. */
async function untilNothingSticksOut(page: Page): Promise<void> {
  const excess = () => page.evaluate('document.documentElement.scrollWidth - innerWidth')
  await until(async () => Number(await excess()) <= 0, { what: 'the page is no wider than the window' })
}

test(
  'hostile subjects and names are drawn as text, and change nothing around them',
  async () => {
    const subjects = {
      markup: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
      turned: 'Invoice \u202egpj.exe\u202c from \u2067evil\u2069',
      rtl: 'مرحبا بالعالم',
      long: 'x'.repeat(998),
    }
    const ids = await Promise.all(
      Object.values(subjects).map(subject =>
        send({ to: 'silent@x.example', subject, from: '"=cmd <b>" <hello@demo.test>' }),
      ),
    )
    const none = await send({ to: 'silent@x.example' })
    await dashboard.mailroom.database.db
      .updateTable('emails')
      .set({ subject: '' })
      .where('id', '=', none as Id<'eml'>)
      .execute()
    const { page } = owner
    await owner.open('/sent')
    await page.getByText(subjects.markup).waitFor()
    expect(await page.getByText('Invoice [U+202E]gpj.exe').count()).toBe(1)
    await page.getByText('(no subject)').first().waitFor()
    await look(page, 'sent-hostile')
    await untilNothingSticksOut(page)
    for (const id of [...ids, none]) {
      await owner.open(`/sent/${id}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('Where it came from').waitFor()
      await page.setViewportSize({ width: 360, height: 800 })
      await untilNothingSticksOut(page)
      expect(await page.title()).toBe('Email · Mailroom')
      await page.setViewportSize({ width: 1280, height: 800 })
    }
    expect(owner.complaints).toEqual([])
  },
  timeoutMs,
)
