import { invitationLinkRoutes, invitationRoutes } from '../../src/accounts/invitations/routes.ts'
import { type Permission, permissions } from '../../src/accounts/keys/permissions.ts'
import { addMember, type MemberAccess } from '../../src/accounts/members/members.ts'
import { memberRoutes } from '../../src/accounts/members/routes.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'
import { openTestHttpServer, type TestHttpServer } from '../harness/http-server.ts'

export const publicUrl = 'https://mail.example'

/** The door with the routes of members and invitations. */
export function openPeopleDoor(limits: { readonly authFailuresPerMinute?: number } = {}): Promise<TestHttpServer> {
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

/** A member of the door's organization, or of another. */
export async function newMember(
  door: TestHttpServer,
  reach: MemberAccess,
  organizationId: Id<'org'> = door.organizationId,
): Promise<Id<'mem'>> {
  const email = `person-${++count}@friend.test`
  const made = await inTransaction(door.database.db, tx =>
    addMember(tx, { organizationId, email, name: `Person ${count}`, access: reach }, door.clock),
  )
  return made.id
}

export async function newBrand(door: TestHttpServer, key?: string): Promise<Id<'brd'>> {
  const json = { name: `Brand ${++count}`, slug: `brand-${count}` }
  return (await door.call('POST', '/v1/brands', { json, ...(key ? { key } : {}) })).json.id
}

/** Everything that a member may be let do, in these brands. */
export function limitedTo(brandIds: readonly string[], granted: readonly Permission[] = permissions): MemberAccess {
  return { role: 'member', brandIds, permissions: granted }
}

/** Status, code and parameter of an answer. */
export function outcome(called: { status: number; json: { error?: { code: string; param?: string } } | undefined }) {
  const { error } = called.json ?? {}
  return [called.status, error?.code, ...(error?.param === undefined ? [] : [error.param])]
}
