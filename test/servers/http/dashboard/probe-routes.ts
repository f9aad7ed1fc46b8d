import { t } from 'elysia'
import { sessionApi } from '../../../../src/api/session/session-route.ts'

/** Routes for tests of the requests of signed-in people. */
export function sessionProbeRoutes() {
  return sessionApi('session-probe')
    .get('/app/api/probe/visitor', ({ context }) => ({ ip: context.ip, origin: context.origin }), { visitor: true })
    .post(
      '/app/api/probe/cookie',
      ({ context }) => {
        context.setCookie('mailroom', 'abc', 60)
        return { isSecure: context.isSecure }
      },
      { visitor: true, body: t.Object({ name: t.String() }) },
    )
    .get('/app/api/probe/account', ({ session }) => ({ email: session.email }), { account: 'session' })
    .get('/app/api/probe/member', ({ member }) => ({ organization: member.organizationId, brand: member.brandId }), {
      member: 'session',
    })
    .post('/app/api/probe/member', ({ member, body }) => ({ ...body, organization: member.organizationId }), {
      member: 'confirmed',
      body: t.Object({ name: t.String({ maxLength: 20 }) }),
    })
    .get('/app/api/probe/operator', ({ session }) => ({ email: session.email }), { operator: 'session' })
}
