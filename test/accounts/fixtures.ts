import { invitationLinkRoutes, invitationRoutes } from '../../src/accounts/invitations/routes.ts'
import { type Permission, permissions } from '../../src/accounts/keys/permissions.ts'
import { addMember, type MemberAccess } from '../../src/accounts/members/members.ts'
import { memberRoutes } from '../../src/accounts/members/routes.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'
import { openTestHttpServer, type TestHttpServer } from '../harness/http-server.ts'

export const publicUrl = 'https://mail.example'

/** The HTTP server with the routes of members and invitations. */
export function openMembersServer(limits: { readonly authFailuresPerMinute?: number } = {}): Promise<TestHttpServer> {
  return openTestHttpServer({
    ...limits,
    features: ({ database: { db }, clock }) => [
      memberRoutes({ db, clock }),
      invitationRoutes({ db, clock, publicUrl }),
      invitationLinkRoutes({ db, clock }),
    ],
  })
}

let count = 0

/** A member of the server's organization, or of another. */
export async function newMember(
  server: TestHttpServer,
  reach: MemberAccess,
  organizationId: Id<'org'> = server.organizationId,
): Promise<Id<'mem'>> {
  const email = `person-${++count}@friend.test`
  const created = await inTransaction(server.database.db, tx =>
    addMember(tx, { organizationId, email, name: `Person ${count}`, access: reach }, server.clock),
  )
  return created.id
}

export async function newBrand(server: TestHttpServer, key?: string): Promise<Id<'brd'>> {
  const json = { name: `Brand ${++count}`, slug: `brand-${count}` }
  return (await server.call('POST', '/v1/brands', { json, ...(key ? { key } : {}) })).json.id
}

/** The access of a member with these permissions (all by default) in these brands. */
export function limitedTo(brandIds: readonly string[], granted: readonly Permission[] = permissions): MemberAccess {
  return { role: 'member', brandIds, permissions: granted }
}

/** Status, error code and parameter of a response. */
export function outcome(response: { status: number; json: { error?: { code: string; param?: string } } | undefined }) {
  const { error } = response.json ?? {}
  return [response.status, error?.code, ...(error?.param === undefined ? [] : [error.param])]
}
