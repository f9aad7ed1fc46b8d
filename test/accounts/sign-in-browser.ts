import { generate } from 'otplib'
import { sessionLinkRoutes, sessionRoutes } from '../../src/accounts/sessions/session-routes.ts'
import { hashPassword } from '../../src/accounts/users/password.ts'
import { accountRoutes, factorRoutes } from '../../src/accounts/users/session-routes.ts'
import { millisecondsOf } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { openTestHttpServer, type TestHttpServer } from '../harness/http-server.ts'
import { testSecrets } from '../harness/secrets.ts'
import { newUser } from './people.ts'

export const password = 'five purple otters juggle'
export const origin = 'https://mail.example'

/** The HTTP server with everything about people, behind a proxy that names its clients. */
export function openPeopleServer({ publicUrl = origin }: { publicUrl?: string | null } = {}): Promise<TestHttpServer> {
  return openTestHttpServer({
    ...(publicUrl !== null && { publicUrl }),
    trustedProxies: ['127.0.0.1'],
    features: ({ database: { db }, clock }) => {
      const deps = { db, clock, secrets: testSecrets }
      return [sessionRoutes(deps), sessionLinkRoutes(deps), accountRoutes(deps), factorRoutes(deps)]
    },
  })
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
  readonly text: string
}

/** A browser that keeps its cookies. */
export interface Browser {
  readonly cookies: Map<string, string>
  /** Below /app/api. */
  call(method: string, path: string, json?: object): Promise<Answer>
  post(path: string, json?: object): Promise<Answer>
  get(path: string): Promise<Answer>
}

let addresses = 0

/** @param ip its address; by default one that no other browser has; null: it runs on the server's own machine */
export function newBrowser(
  server: TestHttpServer,
  ip: string | null = `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}`,
): Browser {
  const cookies = new Map<string, string>()
  const call = async (method: string, path: string, json?: object): Promise<Answer> => {
    const response = await fetch(`${server.url}/app/api/${path}`, {
      method,
      headers: {
        ...(ip === null ? { origin: server.url } : { origin, 'x-forwarded-for': ip }),
        'sec-fetch-site': 'same-origin',
        'user-agent': 'Browser/1.0',
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(json ?? {}) }),
    })
    for (const header of response.headers.getSetCookie()) keepCookie(cookies, header)
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === '' ? undefined : JSON.parse(text),
    }
  }
  return {
    cookies,
    call,
    post: (path, json) => call('POST', path, json),
    get: path => call('GET', path),
  }
}

function keepCookie(cookies: Map<string, string>, header: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
  if (/Max-Age=0\b/.test(header)) cookies.delete(name)
  else cookies.set(name, value)
}

export interface TestPerson {
  readonly id: Id<'usr'>
  readonly email: string
  readonly name: string
}

/** A person with the password of these tests. */
export async function newPersonWithPassword({ database: { db }, clock }: TestHttpServer): Promise<TestPerson> {
  const user = await newUser(db, clock)
  await db
    .updateTable('users')
    .set({ password_hash: await hashPassword(password) })
    .where('id', '=', user.id)
    .execute()
  return user
}

/** A browser in which this person has signed in with their password. */
export async function signedInBrowser(server: TestHttpServer, person: Pick<TestPerson, 'email'>): Promise<Browser> {
  const browser = newBrowser(server)
  const answer = await browser.post('sign-in', { email: person.email, password })
  if (answer.status !== 200) throw new Error(answer.text)
  return browser
}

/** What the authenticator with this secret shows. */
export function authenticatorCode(server: TestHttpServer, secret: string): Promise<string> {
  return generate({ secret, epoch: Math.floor(millisecondsOf(server.clock.now()) / 1000) })
}

/** Adds an authenticator; gives its secret. */
export async function addAuthenticatorIn(server: TestHttpServer, browser: Browser): Promise<string> {
  const { secret } = (await browser.post('account/authenticator/begin')).json
  const code = await authenticatorCode(server, secret)
  const added = await browser.post('account/authenticator', { secret, code })
  if (added.status !== 200) throw new Error(added.text)
  return secret
}

/** The status of an answer, with the code and the reason of its error. */
export function outcome({ status, json }: Pick<Answer, 'status' | 'json'>): string {
  const { error } = json ?? {}
  return [status, error?.code, error?.reason].filter(part => part !== undefined).join(' ')
}

/** The audit entries about this person, as action and who did it from where. */
export async function auditOf({ database: { db } }: TestHttpServer, subject: string): Promise<readonly string[]> {
  const rows = await db.selectFrom('audit_log').selectAll().where('subject', '=', subject).orderBy('id').execute()
  return rows.map(row => `${row.action} by ${row.actor}${row.ip === null ? '' : ' from an address'}`)
}
