import { type Static, t } from 'elysia'
import { loadBrand } from '../accounts/brands/brands.ts'
import { selectBrands } from '../accounts/brands/table.ts'
import { managerRefusals, requireManager } from '../accounts/members/manager.ts'
import { nullable, oneOf } from '../api/common-schemas.ts'
import { describeRoute } from '../api/describe.ts'
import { ifUpdatedAtRefusals } from '../api/if-updated-at.ts'
import type { SessionMember } from '../api/session/session.ts'
import { sessionApi } from '../api/session/session-route.ts'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { refuse } from '../base/refusal.ts'
import { planOrganizationRetention } from './plan.ts'
import { changeRetentionPolicy, maxRetentionDays } from './policies/change-policy.ts'
import {
  minimumDays,
  type RetentionKind,
  type RetentionSettings,
  retentionKindNames,
  retentionKinds,
} from './policies/kinds.ts'
import { loadRetentionPolicies, type RetentionChange } from './policies/policies.ts'
import { ifSetAtSchema, readCondition, toJsonSetAt } from './schema.ts'

export interface OrganizationRetentionDeps {
  readonly db: Db
  readonly clock: Clock
  readonly settings: RetentionSettings
}

/** What would go is counted up to so many items, and for at most so long. */
const countLimits = { maxItems: 10_000, maxMs: 2000 }

const daysSchema = nullable(t.Integer({ minimum: 1, maximum: maxRetentionDays, description: 'null: forever.' }))

const setAtSchema = nullable(t.String({ format: 'date-time', description: 'When it was set; null: it is not.' }))

const retentionSchema = t.Object(
  {
    data: t.Array(
      t.Object({
        kind: oneOf(retentionKindNames),
        description: t.String(),
        days: daysSchema,
        set_for: oneOf(['organization', 'instance'], { description: 'Who set it; instance: also by default.' }),
        instance_days: daysSchema,
        minimum_days: t.Integer(),
        updated_at: setAtSchema,
        brands: t.Array(t.Object({ brand_id: t.String(), days: daysSchema, updated_at: setAtSchema })),
      }),
    ),
  },
  { title: 'OrganizationRetention' },
)

const planSchema = t.Object(
  {
    data: t.Array(t.Object({ kind: oneOf(retentionKindNames), items: t.Integer(), bytes: t.Integer() })),
    is_complete: t.Boolean({ description: 'false: there may be more than was counted.' }),
  },
  { title: 'OrganizationRetentionPlan' },
)

const changeSchema = t.Object({
  kind: oneOf(retentionKindNames),
  brand_id: t.Optional(t.String({ description: 'The brand it is set for; absent: the organization.' })),
  days: t.Union([t.Integer({ minimum: 1, maximum: maxRetentionDays }), t.Literal('forever'), t.Literal('inherit')]),
})

/** The change, if nobody made another one since it was read. */
const conditionalChangeSchema = t.Object({ ...changeSchema.properties, if_updated_at: ifSetAtSchema })

const retentionRefusals = [...managerRefusals, 'not_found', 'brand_restricted'] as const

/** How long what an organization stores is kept, and what goes, in the dashboard: for owners and admins. */
export function organizationRetentionRoutes(deps: OrganizationRetentionDeps) {
  return sessionApi('organization-retention')
    .get('/app/api/organization/retention', ({ member }) => getRetention(deps, member), {
      detail: describeRoute('getRetention', 'Get how long everything is kept', managerRefusals),
      member: 'session',
      response: retentionSchema,
    })
    .get('/app/api/organization/retention/plan', ({ member }) => getPlan(deps, member, undefined), {
      detail: describeRoute('getRetentionPlan', 'Count what would be deleted now', managerRefusals),
      member: 'session',
      response: planSchema,
    })
    .post('/app/api/organization/retention/preview', ({ member, body }) => getPlan(deps, member, body), {
      detail: describeRoute('previewRetention', 'Count what a change would delete at once', retentionRefusals),
      member: 'session',
      body: changeSchema,
      response: planSchema,
    })
    .put('/app/api/organization/retention', ({ member, body }) => setRetention(deps, member, body), {
      detail: describeRoute('setRetention', 'Set how long a kind is kept', [
        ...retentionRefusals,
        ...ifUpdatedAtRefusals,
      ]),
      member: 'confirmed',
      body: conditionalChangeSchema,
      response: retentionSchema,
    })
}

async function getRetention(
  { db, settings }: OrganizationRetentionDeps,
  member: SessionMember,
): Promise<Static<typeof retentionSchema>> {
  requireManager(member)
  const { organizationId } = member
  const policies = await loadRetentionPolicies(db, settings)
  const policyOf = (scope: string, kind: RetentionKind) =>
    policies.rows.find(row => row.scope === scope && row.kind === kind)
  const brands = await selectBrands(db, organizationId, null)
  const brandIds: ReadonlySet<string> = new Set(brands.map(brand => brand.id))
  return {
    data: retentionKindNames.map(kind => ({
      kind,
      description: retentionKinds[kind],
      days: policies.daysFor(kind, organizationId, null),
      set_for: policyOf(organizationId, kind) === undefined ? 'instance' : 'organization',
      instance_days: policyOf('instance', kind)?.days ?? null,
      minimum_days: minimumDays(kind, settings),
      updated_at: toJsonSetAt(policyOf(organizationId, kind)),
      brands: policies.rows
        .filter(row => row.kind === kind && brandIds.has(row.scope))
        .map(row => ({ brand_id: row.scope, days: row.days, updated_at: toJsonSetAt(row) })),
    })),
  }
}

async function getPlan(
  deps: OrganizationRetentionDeps,
  member: SessionMember,
  body: Static<typeof changeSchema> | undefined,
): Promise<Static<typeof planSchema>> {
  requireManager(member)
  const change = body && (await readChange(deps, member, body))
  const plan = await planOrganizationRetention(deps, member.organizationId, { ...countLimits, change })
  return {
    data: [...plan.amounts].map(([kind, { items, bytes }]) => ({ kind, items, bytes })),
    is_complete: plan.isComplete,
  }
}

async function setRetention(
  deps: OrganizationRetentionDeps,
  member: SessionMember,
  body: Static<typeof conditionalChangeSchema>,
) {
  requireManager(member)
  const { organizationId } = member
  const change = await readChange(deps, member, body)
  const operator = { actor: member.person.email, clock: deps.clock, ip: member.person.ip }
  await changeRetentionPolicy(deps.db, operator, change, { organizationId, ...readCondition(body) })
  return getRetention(deps, member)
}

async function readChange(
  { db, settings }: OrganizationRetentionDeps,
  member: SessionMember,
  { kind, brand_id: brandId, days }: Static<typeof changeSchema>,
): Promise<RetentionChange> {
  const minimum = minimumDays(kind, settings)
  if (typeof days === 'number' && days < minimum)
    throw refuse('invalid_request', {
      message: `\`days\` is ${days}; ${kind} is kept for at least ${minimum} ${minimum === 1 ? 'day' : 'days'}.`,
      param: 'days',
    })
  const anyBrand = { organizationId: member.organizationId, brandId: null }
  const scope = brandId === undefined ? member.organizationId : (await loadBrand(db, anyBrand, brandId, 'brand_id')).id
  return { scope, kind, days: days === 'forever' ? null : days }
}
