import { connect } from 'node:net'
import { createKey, revokeKey } from '../../../../src/accounts/keys/keys.ts'
import type { MemberAccess } from '../../../../src/accounts/members/members.ts'
import { createOrganization } from '../../../../src/accounts/organizations/organizations.ts'
import { insertOperator } from '../../../../src/accounts/users/table.ts'
import { isScope, type Scope, scopes } from '../../../../src/api/scope.ts'
import { sessionCookieName } from '../../../../src/api/session/session-cookie.ts'
import { hourMs, plusMs, systemClock } from '../../../../src/base/clock.ts'
import type { Id } from '../../../../src/base/ids.ts'
import { joinAs, newUser, signIn } from '../../../accounts/people.ts'
import { type Mailroom, startMailroom } from '../../../harness/mailroom.ts'
import { validateResponse } from '../../../harness/openapi-validation.ts'
import type { MatrixRequest } from './operations.ts'
import { type Api, createResources, type Resources } from './resources.ts'

/** The parts of a response that the matrix compares. */
export interface Outcome {
  readonly status: number
  readonly code: string | undefined
  readonly param: string | undefined
}

export interface RecordedResponse extends Outcome {
  readonly text: string
  readonly headers: Headers
}

export interface RequestOptions {
  /** null: none. */
  readonly key?: string | null
  /** Sends the request below `/app/api`, as a page of the dashboard does for this person. */
  readonly person?: MatrixPerson
  readonly headers?: Readonly<Record<string, string>>
  /** A raw body instead of the JSON of the request. */
  readonly raw?: string
}

/** A signed-in person. */
export interface MatrixPerson {
  readonly cookie: string
  /** Their membership; null: they are in no organization. */
  readonly memberId: Id<'mem'> | null
  /** The organization that their requests name; absent: none. */
  readonly organizationId?: Id<'org'>
}

/** A server process with two organizations that have one resource of each kind. */
export interface MatrixFixture {
  readonly own: Resources
  /** The resources of another organization. */
  readonly foreign: Resources
  readonly otherBrand: string
  /** A key of the first organization with every scope. */
  readonly key: string
  readonly keys: {
    /** Restricted to another brand than the one of `own`. */
    readonly otherBrand: string
    readonly expired: string
    readonly revoked: string
    /** Well-formed, with a wrong secret. */
    readonly forged: string
  }
  readonly organizationId: Id<'org'>
  readonly otherOrganizationId: Id<'org'>
  readonly otherOrganizationKey: string
  /** Signs a new person in, a member of this organization. */
  signIn(organizationId: Id<'org'> | null, access: MemberAccess, options?: PersonOptions): Promise<MatrixPerson>
  /** A key of the first organization. */
  newKey(options: KeyOptions): Promise<string>
  /** A key without this scope. */
  keyWithoutScope(scope: string): Promise<string>
  send(request: MatrixRequest, options?: RequestOptions): Promise<RecordedResponse>
  /** Declares a body of so many bytes, and sends none of it. */
  declareBody(request: MatrixRequest, bytes: number, options: RequestOptions): Promise<Outcome>
  close(): Promise<void>
}

interface PersonOptions {
  readonly isOperator?: boolean
  /** Did they present a factor within the last ten minutes? Absent: they did. */
  readonly isConfirmed?: boolean
}

export interface KeyOptions {
  /** Absent: all. */
  readonly scopes?: readonly Scope[]
  readonly brandId?: string
  readonly makerId?: Id<'mem'>
}

export async function openMatrixFixture(): Promise<MatrixFixture> {
  const mailroom = await startMailroom({
    MAILROOM_AUTH_FAILURES_PER_MINUTE: '1000000',
    MAILROOM_WEBHOOK_ALLOW: '127.0.0.0/8',
  })
  try {
    return await prepare(mailroom)
  } catch (error) {
    await mailroom.stop()
    throw error
  }
}

async function prepare(mailroom: Mailroom): Promise<MatrixFixture> {
  const { db } = mailroom.database
  const organizationId = mailroom.demo.organization_id as Id<'org'>
  const newKey = async (options: KeyOptions & { readonly isExpired?: boolean } = {}) =>
    createKey(
      db,
      {
        organizationId,
        brandId: (options.brandId ?? null) as Id<'brd'> | null,
        name: 'matrix',
        scopes: options.scopes ?? scopes,
        expiresAt: options.isExpired ? plusMs(systemClock.now(), -1000) : null,
        ...(options.makerId && { makerId: options.makerId }),
      },
      systemClock,
    )
  const { id: otherOrganization } = await createOrganization(db, { name: 'Others', plan: 'unlimited' }, systemClock)
  const otherKey = {
    organizationId: otherOrganization,
    brandId: null,
    name: 'otherOrganization',
    scopes,
    expiresAt: null,
  }
  const { key: otherOrganizationKey } = await createKey(db, otherKey, systemClock)
  const apiWith =
    (key: string): Api =>
    async (method, path, body) => {
      const response = await fetch(mailroom.http + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return response.json()
    }
  const own = await createResources(apiWith(mailroom.key), db, mailroom.smtp, 'acme')
  const foreign = await createResources(apiWith(otherOrganizationKey), db, mailroom.smtp, 'rival')
  const { id: brandId } = await apiWith(mailroom.key)('POST', '/v1/brands', { name: 'Other', slug: 'other' })
  const ofBrands = scopes.filter(scope => !scope.startsWith('members:'))
  const revoked = await newKey()
  await revokeKey(db, revoked.id, systemClock)
  const forged = (await newKey()).key
  const keysWithoutScope = new Map<string, Promise<string>>()
  return {
    own,
    foreign,
    otherBrand: brandId,
    key: mailroom.key,
    organizationId,
    otherOrganizationId: otherOrganization,
    otherOrganizationKey,
    async signIn(inOrganization, access, { isOperator = false, isConfirmed = true } = {}) {
      const user = await newUser(db, systemClock)
      const memberId = inOrganization && (await joinAs(db, user, inOrganization, access, systemClock))
      if (isOperator) await insertOperator(db, { user_id: user.id, created_at: systemClock.now() })
      const { id, cookie } = await signIn(db, user.id, systemClock)
      if (!isConfirmed) {
        const longAgo = plusMs(systemClock.now(), -hourMs)
        await db.updateTable('sessions').set({ confirmed_at: longAgo }).where('id', '=', id).execute()
      }
      return { cookie, memberId, ...(inOrganization && { organizationId: inOrganization }) }
    },
    newKey: async options => (await newKey(options)).key,
    keys: {
      otherBrand: (await newKey({ brandId, scopes: ofBrands })).key,
      expired: (await newKey({ isExpired: true })).key,
      revoked: revoked.key,
      forged: `${forged.slice(0, -1)}${forged.endsWith('a') ? 'b' : 'a'}`,
    },
    keyWithoutScope(scope) {
      if (!isScope(scope)) throw new Error(`${scope} is not a scope`)
      const key =
        keysWithoutScope.get(scope) ??
        newKey({ scopes: scopes.filter(other => other !== scope) }).then(({ key }) => key)
      keysWithoutScope.set(scope, key)
      return key
    },
    send: (request, options = {}) => send(mailroom, request, options),
    declareBody: (request, bytes, options) => declareBody(mailroom, request, bytes, options),
    close: () => mailroom.stop(),
  }
}

function headersOf(mailroom: Mailroom, { key, person, headers = {} }: RequestOptions): Record<string, string> {
  if (person) return { ...personHeaders(person), ...headers }
  return { ...(key === null ? {} : { authorization: `Bearer ${key ?? mailroom.key}` }), ...headers }
}

function personHeaders({ cookie, organizationId }: MatrixPerson): Record<string, string> {
  return {
    cookie: `${sessionCookieName(false)}=${cookie}`,
    'sec-fetch-site': 'same-origin',
    ...(organizationId && { 'mailroom-organization': organizationId }),
  }
}

function pathOf({ path, query }: MatrixRequest, { person }: RequestOptions): string {
  const text = new URLSearchParams(query).toString()
  const whole = text === '' ? path : `${path}?${text}`
  return person ? `/app/api${whole}` : whole
}

async function send(mailroom: Mailroom, request: MatrixRequest, options: RequestOptions): Promise<RecordedResponse> {
  const path = pathOf(request, options)
  const body = options.raw ?? (request.body && JSON.stringify(request.body))
  const response = await fetch(mailroom.http + path, {
    method: request.method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headersOf(mailroom, options) },
    ...(body === undefined ? {} : { body }),
  })
  const { status, headers } = response
  const text = await response.text()
  validateResponse({ method: request.method, path, status, headers, text })
  return { ...outcomeOf(status, text), text, headers }
}

function outcomeOf(status: number, text: string): Outcome {
  if (status < 400) return { status, code: undefined, param: undefined }
  const { error } = JSON.parse(text) as { error: { code: string; param?: string } }
  return { status, code: error.code, param: error.param }
}

async function declareBody(
  mailroom: Mailroom,
  request: MatrixRequest,
  bytes: number,
  options: RequestOptions,
): Promise<Outcome> {
  const { hostname, port } = new URL(mailroom.http)
  const socket = connect(Number(port), hostname)
  const lines = Object.entries(headersOf(mailroom, options)).map(([name, value]) => `${name}: ${value}`)
  const head = [
    `${request.method} ${pathOf(request, options)} HTTP/1.1`,
    `host: ${hostname}`,
    `content-length: ${bytes}`,
    ...lines,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  let response = ''
  try {
    return await new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`no response, only ${JSON.stringify(response)}`)))
      socket.on('data', chunk => {
        response += chunk.toString()
        const [first = '', text = ''] = response.split('\r\n\r\n')
        const length = Number(/content-length: (\d+)/i.exec(first)?.[1] ?? Number.NaN)
        if (Buffer.byteLength(text) >= length) resolve(outcomeOf(Number(first.split(' ')[1]), text))
      })
    })
  } finally {
    socket.destroy()
  }
}
