import { expect, test } from 'bun:test'
import { t } from 'elysia'
import type { Instant } from '../../base/clock.ts'
import { Refusal } from '../../base/refusal.ts'
import { type Session, type SessionContext, type SessionMember, setSessionContext } from './session.ts'
import { sessionApi } from './session-route.ts'

const session: Session = {
  id: 'ses_1',
  userId: 'usr_1',
  email: 'ann@example.com',
  name: 'Ann',
  isOperator: false,
  needsFactor: false,
  confirmedAt: '2026-01-01T00:00:00.000000' as Instant,
  isConfirmed: false,
}

const member: SessionMember = {
  keyId: null,
  person: { email: 'ann@example.com', ip: '192.0.2.1' },
  organizationId: 'org_1',
  brandId: null,
  scopes: new Set(),
  memberId: 'mem_1',
  role: 'owner',
  denial: null,
  brandIds: null,
  hasApiAccess: true,
}

const app = sessionApi('test')
  .onError(({ error }) => {
    throw error
  })
  .get('/app/api/visitor', ({ context }) => ({ ip: context.ip }), { visitor: true })
  .get('/app/api/account', ({ session }) => ({ email: session.email }), { account: 'session' })
  .post('/app/api/member', ({ session, member, body }) => ({ ...body, by: session.userId, role: member.role }), {
    member: 'confirmed',
    body: t.Object({ name: t.String() }),
  })
  .get('/app/api/operator', ({ session }) => ({ email: session.email }), { operator: 'session' })

/** The response, or the code of the refusal. */
async function ask(path: string, signedIn: Partial<Session> | null, init: RequestInit = {}, as = member) {
  const request = new Request(`http://localhost${path}`, init)
  const context: SessionContext = {
    requestId: 'req_1',
    session: signedIn && { ...session, ...signedIn },
    ip: '192.0.2.1',
    userAgent: null,
    isSecure: true,
    origin: 'https://mail.example.com',
    isLocalhost: false,
    namedOrganization: null,
    cookie: () => undefined,
    setCookie: () => undefined,
    reserveMemory: () => undefined,
    member: async () => as,
  }
  setSessionContext(request, context)
  try {
    return await (await app.fetch(request)).json()
  } catch (error) {
    // Elysia wraps what is thrown while a body is parsed.
    const { cause = error } = error as Error
    return cause instanceof Refusal ? cause.code : cause
  }
}

const post = (body: string) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
})

test('a route is for everyone, for whoever is signed in, for a member or for an operator', async () => {
  expect(await ask('/app/api/visitor', null)).toEqual({ ip: '192.0.2.1' })
  expect(await ask('/app/api/account', null)).toBe('session_required')
  expect(await ask('/app/api/account', { needsFactor: true })).toEqual({ email: 'ann@example.com' })
  expect(await ask('/app/api/operator', {})).toBe('operator_required')
  expect(await ask('/app/api/operator', { isOperator: true, needsFactor: true })).toBe('factor_required')
  expect(await ask('/app/api/operator', { isOperator: true })).toEqual({ email: 'ann@example.com' })
})

test('what wants a confirmation is refused before the body is read, and the body is validated', async () => {
  const named = post('{"name":"Ann"}')
  expect(await ask('/app/api/member', {}, post('not JSON'))).toBe('confirmation_required')
  expect(await ask('/app/api/member', { isConfirmed: true, needsFactor: true }, named)).toBe('factor_required')
  expect(await ask('/app/api/member', { isConfirmed: true }, post('{"name":1}'))).toBe('invalid_request')
  expect(await ask('/app/api/member', { isConfirmed: true }, post('{"name":"a","more":1}'))).toBe('invalid_request')
  expect(await ask('/app/api/member', { isConfirmed: true }, named)).toEqual({
    name: 'Ann',
    by: 'usr_1',
    role: 'owner',
  })
})

test('a member without access to the brand is refused', async () => {
  const denial = { code: 'brand_restricted', message: 'No longer.' } as const
  const request = post('{"name":"Ann"}')
  expect(await ask('/app/api/member', { isConfirmed: true }, request, { ...member, denial })).toBe('brand_restricted')
})
