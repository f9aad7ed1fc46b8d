import { type Static, t } from 'elysia'
import { recordCallerEntry } from '../../accounts/audit/audit.ts'
import { managerRefusals, requireManager } from '../../accounts/members/manager.ts'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { cursorRefusals, cutPage, decodeCursor, limitParamSchema, pageSize } from '../../api/page.ts'
import type { SessionMember } from '../../api/session/session.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { listSenders, readEntry, unlistSenders } from './senders.ts'
import { type SenderListingRow, selectEntries } from './table.ts'

export interface SenderRoutesDeps {
  readonly db: Db
  readonly clock: Clock
}

const listingSchema = oneOf(['allow', 'block'])

const sendersPageSchema = t.Object(
  {
    data: t.Array(
      t.Object({
        sender: t.String({ description: 'An address, or a domain, which stands for its subdomains too.' }),
        listing: listingSchema,
        created_at: dateTimeSchema,
      }),
    ),
    next_cursor: nullable(t.String()),
  },
  { title: 'SenderPage' },
)

const senderSchema = t.String({ minLength: 1, maxLength: 320 })
const listBodySchema = t.Object({ sender: senderSchema, listing: listingSchema })
const listedSchema = t.Object({
  sender: t.String(),
  listing: listingSchema,
  replaced: nullable(t.Object({ listing: listingSchema, created_at: dateTimeSchema })),
})
const unlistBodySchema = t.Object({ sender: senderSchema })
const unlistedSchema = t.Object({ sender: t.String(), removed: t.Boolean() })

/** The senders that an organization allows and blocks, in the dashboard: for owners and admins. */
export function senderSessionRoutes(deps: SenderRoutesDeps) {
  return sessionApi('session-senders')
    .get('/app/api/organization/senders', ({ member, query }) => getSenders(deps, member, query), {
      detail: describeRoute('listSenders', 'List the senders that are allowed and blocked', [
        ...managerRefusals,
        ...cursorRefusals,
      ]),
      member: 'session',
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()) }, { additionalProperties: false }),
      response: sendersPageSchema,
    })
    .put('/app/api/organization/senders', ({ member, body }) => putSender(deps, member, body), {
      detail: describeRoute('setSender', 'Allow or block a sender', managerRefusals),
      member: 'session',
      body: listBodySchema,
      response: listedSchema,
    })
    .post('/app/api/organization/senders/remove', ({ member, body }) => removeSender(deps, member, body.sender), {
      detail: describeRoute('removeSender', 'Neither allow nor block a sender any more', managerRefusals),
      member: 'session',
      body: unlistBodySchema,
      response: unlistedSchema,
    })
}

async function getSenders(
  { db }: SenderRoutesDeps,
  member: SessionMember,
  { limit, cursor }: { readonly limit?: string; readonly cursor?: string },
): Promise<Static<typeof sendersPageSchema>> {
  requireManager(member)
  const size = pageSize(limit)
  const [after = ''] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  const rows = await selectEntries(db, member.organizationId, { after, limit: size + 1 })
  const { page, next_cursor } = cutPage(rows, size, ({ entry }) => [entry])
  return { data: page.map(row => ({ sender: row.entry, ...listingOf(row) })), next_cursor }
}

function listingOf({ listing, created_at }: SenderListingRow) {
  return { listing, created_at: toIso(created_at) }
}

async function putSender(
  { db, clock }: SenderRoutesDeps,
  member: SessionMember,
  { sender, listing }: Static<typeof listBodySchema>,
): Promise<Static<typeof listedSchema>> {
  requireManager(member)
  const entry = requireEntry(sender)
  return await inTransaction(db, async tx => {
    const listed = await listSenders(tx, clock, member.organizationId, { entries: [entry], listing })
    if (listed.kind === 'too_many')
      throw refuse('invalid_request', {
        message: `An organization lists ${listed.most} senders at most: remove some, or list their domains.`,
        param: 'sender',
      })
    for (const subject of listed.changed)
      await recordCallerEntry(tx, member, clock, { action: `senders.${listing}`, subject })
    const [before] = listed.turned
    return { sender: entry, listing, replaced: before ? listingOf(before) : null }
  })
}

async function removeSender(
  { db, clock }: SenderRoutesDeps,
  member: SessionMember,
  sender: string,
): Promise<Static<typeof unlistedSchema>> {
  requireManager(member)
  const entry = requireEntry(sender)
  return inTransaction(db, async tx => {
    const [removed] = await unlistSenders(tx, member.organizationId, [entry])
    if (removed !== undefined) await recordCallerEntry(tx, member, clock, { action: 'senders.remove', subject: entry })
    return { sender: entry, removed: removed !== undefined }
  })
}

function requireEntry(text: string): string {
  const entry = readEntry(text)
  if (entry === undefined)
    throw refuse('invalid_request', {
      message: `${JSON.stringify(text.slice(0, 80))} is neither an address such as ann@example.com nor a domain such as example.com.`,
      param: 'sender',
    })
  return entry
}
