import type { MemberAccess } from '../../../../src/accounts/members/members.ts'
import type { Id } from '../../../../src/base/ids.ts'
import { joinAs, newUser, signIn } from '../../../accounts/people.ts'
import type { TestHttpServer } from '../../../harness/http-server.ts'

/** A person who is signed in, as their browser makes requests. */
export interface SignedIn {
  readonly userId: Id<'usr'>
  readonly sessionId: Id<'ses'>
  readonly cookie: string
}

/** A new person with this access to the server's organization (null: none), who is signed in. */
export async function signInAs(server: TestHttpServer, access: MemberAccess | null): Promise<SignedIn> {
  const { db } = server.database
  const user = await newUser(db, server.clock)
  if (access) await joinAs(db, user, server.organizationId, access, server.clock)
  const { id, cookie } = await signIn(db, user.id, server.clock)
  return { userId: user.id, sessionId: id, cookie }
}

export interface BrowserRequest {
  readonly method?: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A request of a page of ours in the browser of that person; null: nobody is signed in. */
export async function browse(
  server: TestHttpServer,
  person: Pick<SignedIn, 'cookie'> | null,
  path: string,
  { method = 'GET', json, headers = {} }: BrowserRequest = {},
) {
  const response = await fetch(server.url + path, {
    method,
    redirect: 'manual',
    headers: {
      'sec-fetch-site': 'same-origin',
      ...(person && { cookie: `mailroom=${person.cookie}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  const text = await response.text()
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // Not JSON.
  }
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  return { status: response.status, headers: response.headers, text, json: body as any }
}

/** The status of a response, and the code of its error. */
export function outcome({
  status,
  json,
}: {
  readonly status: number
  readonly json: { error?: { code: string } } | undefined
}) {
  return status < 400 ? status : `${status} ${json?.error?.code}`
}
