import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { ifUpdatedAtRefusals, ifUpdatedAtSchema, lastUpdatedAt } from '../../api/if-updated-at.ts'
import type { SessionMember } from '../../api/session/session.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, type Instant, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { recordCallerEntry } from '../audit/audit.ts'
import { managerRefusals, requireManager } from '../members/manager.ts'
import { changeOrganization, findOrganization } from './organizations.ts'
import { getUsage } from './quota.ts'

/** A brand whose sending is paused, because of too many bounces or complaints. */
interface BrandPause {
  readonly brandId: Id<'brd'>
  readonly name: string
  readonly pausedAt: Instant | null
  readonly reason: string | null
}

export interface SessionOrganizationDeps {
  readonly db: Db
  readonly clock: Clock
  /** The paused brands of an organization, the longest paused first. */
  pausedBrands(db: Db, organizationId: Id<'org'>): Promise<readonly BrandPause[]>
}

const organizationSchema = t.Object(
  {
    id: t.String(),
    name: t.String(),
    plan: oneOf(['free', 'paid', 'unlimited']),
    created_at: dateTimeSchema,
    updated_at: t.String({ format: 'date-time', description: 'When its name or plan last changed.' }),
    usage: t.Object({
      month: t.String({ description: 'The calendar month in UTC: 2026-01.' }),
      used: t.Integer(),
      included: nullable(t.Integer({ description: 'null: any number.' })),
      overage: t.Integer(),
    }),
    paused_brands: t.Array(
      t.Object({
        id: t.String(),
        name: t.String(),
        paused_at: nullable(dateTimeSchema),
        reason: nullable(t.String()),
      }),
    ),
  },
  { title: 'Organization' },
)

const maxNameLength = 120
const organizationNameSchema = t.String({
  minLength: 1,
  maxLength: maxNameLength,
  pattern: '^(?=.*\\S)[^\\x00-\\x1f\\x7f]*$',
  expected: 'a name of 1 to 120 characters on one line',
})

/** The organization itself, in the dashboard. */
export function sessionOrganizationRoutes(deps: SessionOrganizationDeps) {
  return sessionApi('session-organization')
    .get('/app/api/organization', ({ member }) => getOrganization(deps, member), {
      detail: describeRoute('getOrganization', 'Get the organization, its plan and its usage of this month'),
      member: 'session',
      response: organizationSchema,
    })
    .patch('/app/api/organization', ({ member, body }) => changeName(deps, member, body), {
      detail: describeRoute('renameOrganization', 'Rename the organization', [
        ...managerRefusals,
        ...ifUpdatedAtRefusals,
      ]),
      member: 'confirmed',
      body: t.Object({ name: organizationNameSchema, if_updated_at: ifUpdatedAtSchema }),
      response: organizationSchema,
    })
}

/** A `member` sees whether their own brands are paused. */
async function getOrganization(
  { db, clock, pausedBrands }: SessionOrganizationDeps,
  { organizationId, brandIds }: SessionMember,
): Promise<Static<typeof organizationSchema>> {
  const organization = await findOrganization(db, organizationId)
  if (!organization) throw noOrganization(organizationId)
  const { month, used, included, overage } = await getUsage(db, organization, clock.now())
  const paused = await pausedBrands(db, organizationId)
  const { id, name, plan, created_at } = organization
  return {
    id,
    name,
    plan,
    created_at: toIso(created_at),
    updated_at: toIso(lastUpdatedAt(organization)),
    usage: { month, used, included, overage },
    paused_brands: paused
      .filter(({ brandId }) => brandIds === null || brandIds.includes(brandId))
      .map(({ brandId, name, pausedAt, reason }) => ({
        id: brandId,
        name,
        paused_at: pausedAt && toIso(pausedAt),
        reason,
      })),
  }
}

async function changeName(
  deps: SessionOrganizationDeps,
  member: SessionMember,
  { name: typed, if_updated_at }: { readonly name: string; readonly if_updated_at?: string },
) {
  requireManager(member)
  const { organizationId } = member
  const name = typed.trim()
  await inTransaction(deps.db, async tx => {
    const changed = await changeOrganization(tx, deps.clock, organizationId, { name, if_updated_at })
    if (!changed) throw noOrganization(organizationId)
    if (changed.after === changed.before) return
    const detail = { from: changed.before.name, to: name }
    await recordCallerEntry(tx, member, deps.clock, { action: 'org.rename', subject: organizationId, detail })
  })
  return getOrganization(deps, member)
}

function noOrganization(id: string) {
  return refuse('not_found', { message: `There is no organization ${id}.` })
}
