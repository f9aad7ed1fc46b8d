import { connect } from 'node:net'
import { createKey, revokeKey } from '../../../../src/accounts/keys/keys.ts'
import { createOrganization } from '../../../../src/accounts/organizations/organizations.ts'
import { isScope, type Scope, scopes } from '../../../../src/api/scope.ts'
import { plusMs, systemClock } from '../../../../src/base/clock.ts'
import type { Id } from '../../../../src/base/ids.ts'
import { type Mailroom, startMailroom } from '../../../harness/mailroom.ts'
import { validateResponse } from '../../../harness/openapi-validation.ts'
import type { MatrixRequest } from './operations.ts'
import { type Api, createResources, type Resources } from './resources.ts'

/** What came back, as far as the table speaks of it. */
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
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the body as JSON. */
  readonly raw?: string
}

/** A Mailroom in a process of its own with two organizations that have one of everything. */
export interface MatrixFixture {
  readonly own: Resources
  /** Another organization's. */
  readonly foreign: Resources
  readonly otherBrand: string
  /** Of the first organization, with every scope. */
  readonly key: string
  readonly keys: {
    /** Restricted to another brand than that of `own`. */
    readonly otherBrand: string
    readonly expired: string
    readonly revoked: string
    /** Well formed, with another secret. */
    readonly forged: string
  }
  /** A key with every scope but this one. */
  keyWithoutScope(scope: string): Promise<string>
  send(asking: MatrixRequest, how?: RequestOptions): Promise<RecordedResponse>
  /** Declares a body of so many bytes and sends none of it. */
  declareBody(asking: MatrixRequest, bytes: number, how: RequestOptions): Promise<Outcome>
  close(): Promise<void>
}

export async function openMatrixFixture(): Promise<MatrixFixture> {
  const mailroom = await startMailroom({ MAILROOM_AUTH_FAILURES_PER_MINUTE: '1000000' })
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
  const newKey = async (more: { scopes?: readonly Scope[]; brandId?: string; isOver?: boolean } = {}) =>
    createKey(
      db,
      {
        organizationId,
        brandId: (more.brandId ?? null) as Id<'brd'> | null,
        name: 'matrix',
        scopes: more.scopes ?? scopes,
        expiresAt: more.isOver ? plusMs(systemClock.now(), -1000) : null,
      },
      systemClock,
    )
  const { id: others } = await createOrganization(db, { name: 'Others', plan: 'unlimited' }, systemClock)
  const wanted = { organizationId: others, brandId: null, name: 'others', scopes, expiresAt: null }
  const { key: othersKey } = await createKey(db, wanted, systemClock)
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
  const theirs = await createResources(apiWith(othersKey), db, mailroom.smtp, 'rival')
  const { id: brandId } = await apiWith(mailroom.key)('POST', '/v1/brands', { name: 'Other', slug: 'other' })
  const ofBrands = scopes.filter(scope => !scope.startsWith('members:'))
  const revoked = await newKey()
  await revokeKey(db, revoked.id, systemClock)
  const forged = (await newKey()).key
  const lacking = new Map<string, Promise<string>>()
  return {
    own,
    foreign: theirs,
    otherBrand: brandId,
    key: mailroom.key,
    keys: {
      otherBrand: (await newKey({ brandId, scopes: ofBrands })).key,
      expired: (await newKey({ isOver: true })).key,
      revoked: revoked.key,
      forged: `${forged.slice(0, -1)}${forged.endsWith('a') ? 'b' : 'a'}`,
    },
    keyWithoutScope(scope) {
      if (!isScope(scope)) throw new Error(`${scope} is no scope`)
      const made =
        lacking.get(scope) ??
        newKey({ scopes: scopes.filter(each => each !== scope) }).then(createdKey => createdKey.key)
      lacking.set(scope, made)
      return made
    },
    send: (asking, how = {}) => ask(mailroom, asking, how),
    declareBody: (asking, bytes, how) => declare(mailroom, asking, bytes, how),
    close: () => mailroom.stop(),
  }
}

function headersOf(mailroom: Mailroom, { key = mailroom.key, headers = {} }: RequestOptions): Record<string, string> {
  return { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers }
}

function pathOf({ path, query }: MatrixRequest): string {
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}

async function ask(mailroom: Mailroom, asking: MatrixRequest, how: RequestOptions): Promise<RecordedResponse> {
  const path = pathOf(asking)
  const body = how.raw ?? (asking.body && JSON.stringify(asking.body))
  const response = await fetch(mailroom.http + path, {
    method: asking.method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headersOf(mailroom, how) },
    ...(body === undefined ? {} : { body }),
  })
  const { status, headers } = response
  const text = await response.text()
  validateResponse({ method: asking.method, path, status, headers, text })
  return { ...outcomeOf(status, text), text, headers }
}

function outcomeOf(status: number, text: string): Outcome {
  if (status < 400) return { status, code: undefined, param: undefined }
  const { error } = JSON.parse(text) as { error: { code: string; param?: string } }
  return { status, code: error.code, param: error.param }
}

async function declare(
  mailroom: Mailroom,
  asking: MatrixRequest,
  bytes: number,
  how: RequestOptions,
): Promise<Outcome> {
  const { hostname, port } = new URL(mailroom.http)
  const socket = connect(Number(port), hostname)
  const lines = Object.entries(headersOf(mailroom, how)).map(([name, value]) => `${name}: ${value}`)
  const head = [
    `${asking.method} ${pathOf(asking)} HTTP/1.1`,
    `host: ${hostname}`,
    `content-length: ${bytes}`,
    ...lines,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  let heard = ''
  try {
    return await new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`no answer, only ${JSON.stringify(heard)}`)))
      socket.on('data', chunk => {
        heard += chunk.toString()
        const [first = '', text = ''] = heard.split('\r\n\r\n')
        const length = Number(/content-length: (\d+)/i.exec(first)?.[1] ?? Number.NaN)
        if (Buffer.byteLength(text) >= length) resolve(outcomeOf(Number(first.split(' ')[1]), text))
      })
    })
  } finally {
    socket.destroy()
  }
}
