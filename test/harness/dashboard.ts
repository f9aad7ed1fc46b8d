import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { MemberAccess } from '../../src/accounts/members/members.ts'
import { startSession } from '../../src/accounts/sessions/sessions.ts'
import { insertOperator } from '../../src/accounts/users/table.ts'
import { addUser } from '../../src/accounts/users/users.ts'
import { sessionCookieName } from '../../src/api/session/session-cookie.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { joinAs } from '../accounts/people.ts'
import { amount } from './amount.ts'
import { startBrowser } from './browser.ts'
import { projectRoot } from './cli.ts'
import { type Mailroom, startMailroom } from './mailroom.ts'

/** A Mailroom with its built dashboard, and one Chromium for all tests of a file. */
export interface Dashboard {
  readonly mailroom: Mailroom
  readonly browser: Browser
  /** The address that browsers are given: `http://localhost:…`, without a final slash. */
  readonly url: string
  /** Opens a window for this person, who is signed in. Each call makes a person. */
  openAs(person: NewPerson, options?: WindowOptions): Promise<DashboardWindow>
  /** Opens a window in which nobody is signed in. */
  openAsVisitor(options?: WindowOptions): Promise<DashboardWindow>
  /** Closes all windows and ends all processes. */
  stop(): Promise<void>
}

/** Who signs in: an owner of the demo organization, unless something else is said. */
export interface NewPerson {
  readonly email?: string
  readonly name?: string
  /** null: in no organization. */
  readonly access?: MemberAccess | null
  /** Without it, that of the demo. */
  readonly organizationId?: Id<'org'>
  readonly isOperator?: boolean
}

export interface WindowOptions {
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

/** A window of the browser. */
export interface DashboardWindow {
  readonly page: Page
  readonly context: BrowserContext
  /** What the browser complained about so far: errors of scripts, refusals of the content security policy. */
  readonly complaints: readonly string[]
  /** Goes to a path below the demo organization: `/domains`; one that begins with `/app` is taken as it is. */
  open(path: string): Promise<void>
}

const height = 800
let people = 0

/** Starts a Mailroom and a browser. The settings are added to those of {@link startMailroom}. */
export async function startDashboard(settings: Readonly<Record<string, string>> = {}): Promise<Dashboard> {
  const [mailroom, browser] = await Promise.all([startMailroom(settings), startBrowser()])
  const url = mailroom.http.replace('127.0.0.1', 'localhost')
  const openWindow = async ({ width = 1280, theme = 'light' }: WindowOptions): Promise<DashboardWindow> => {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('console', message => {
      // Every refused request is listed by the browser; the page shows it in its own words.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
    return {
      page,
      context,
      complaints,
      async open(path) {
        await page.goto(`${url}${path.startsWith('/app') ? path : `/app/${mailroom.demo.organization_id}${path}`}`)
      },
    }
  }
  return {
    mailroom,
    browser,
    url,
    async openAs(person, options = {}) {
      const window = await openWindow(options)
      const value = await signIn(mailroom, person)
      await window.context.addCookies([
        { name: sessionCookieName(false), value, url, httpOnly: true, sameSite: 'Strict' },
      ])
      return window
    },
    openAsVisitor: (options = {}) => openWindow(options),
    async stop() {
      await browser.close()
      await mailroom.stop()
    },
  }
}

/** Starts a Mailroom and a browser, with a window in which an owner is signed in. */
export async function startDashboardAsOwner(
  person: NewPerson = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly dashboard: Dashboard; readonly owner: DashboardWindow }> {
  const dashboard = await startDashboard(settings)
  try {
    return { dashboard, owner: await dashboard.openAs(person) }
  } catch (error) {
    await dashboard.stop()
    throw error
  }
}

/** Makes a person with a session, and gives the value of its cookie. */
async function signIn({ database: { db }, demo }: Mailroom, person: NewPerson): Promise<string> {
  people += 1
  const {
    email = `person${people}@example.com`,
    name = 'Ann Lee',
    access = { role: 'owner' },
    isOperator = false,
  } = person
  const organizationId = person.organizationId ?? (demo.organization_id as Id<'org'>)
  const user = await addUser(db, { email, name }, systemClock)
  if (access !== null) await joinAs(db, user, organizationId, access, systemClock)
  if (isOperator) await insertOperator(db, { user_id: user.id, created_at: systemClock.now() })
  return (await startSession(db, user.id, { ip: '127.0.0.1', userAgent: 'Chromium' }, systemClock)).cookie
}

const axeSource = readFileSync(join(projectRoot, 'node_modules/axe-core/axe.min.js'), 'utf8')

/** A finding of axe-core, with the elements that it concerns. */
export interface AxeFinding {
  readonly rule: string
  readonly help: string
  readonly elements: readonly string[]
}

/** What axe-core finds on the page as it is now, by the rules of WCAG 2.2 A and AA and its own best practices. */
async function findAxeViolations(page: Page): Promise<readonly AxeFinding[]> {
  // Through the debugger's protocol, which the content security policy does not concern.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  return page.evaluate(async () => {
    interface Axe {
      run(
        options: object,
      ): Promise<{ violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[] }>
    }
    // The elements without a violation need no report of their own, nor the others a selector.
    const options = { resultTypes: ['violations'], selectors: false }
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(options)
    return violations.map(({ id, help, nodes }) => ({
      rule: id,
      help,
      elements: nodes.map(({ html, failureSummary }) => `${html.slice(0, 300)}: ${failureSummary}`),
    }))
  })
}

/** Fails when axe-core finds anything on the page. */
export async function expectNoAxeViolations(page: Page): Promise<void> {
  const findings = await findAxeViolations(page)
  if (findings.length > 0) throw new Error(`axe-core found on ${page.url()}:\n${JSON.stringify(findings, null, 2)}`)
}

const pictures = process.env['MAILROOM_TEST_PICTURES']

interface Look {
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
}

/** Between them, both widths and both themes. */
const twoLooks: readonly Look[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
]
const allLooks: readonly Look[] = [
  ...twoLooks,
  { width: 1280, colorScheme: 'dark' },
  { width: 360, colorScheme: 'light' },
]

/**
 * Shows the page at 1,280 px in light and at 360 px in dark; in the long form and where pictures are wanted, at each width
 * in each theme. `look` is called for each, such as to run axe-core. A picture of each is written to the folder that
 * MAILROOM_TEST_PICTURES names, if it is set. At the end it is wide and light.
 * @param name the first part of the picture's name: `domains-empty`
 */
export async function inAllLooks(page: Page, name: string, look: (page: Page) => Promise<void>): Promise<void> {
  for (const { width, colorScheme } of pictures ? allLooks : amount({ short: twoLooks, long: allLooks })) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor({ state: 'attached' })
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`) })
    await look(page)
  }
  await page.setViewportSize({ width: 1280, height })
  await page.emulateMedia({ colorScheme: 'light' })
}
