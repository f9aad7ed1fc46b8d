import { t } from 'elysia'
import { dateTimeSchema, idParamsSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { ifUpdatedAtRefusals, ifUpdatedAtSchema, lastUpdatedAt } from '../../api/if-updated-at.ts'
import { cursorRefusals, cutPage, limitParamSchema, pageSize, readIdCursor } from '../../api/page.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { sessionActor } from '../audit/session-actor.ts'
import { canonicalEmail } from '../members/schema.ts'
import { loginLinkUrl } from '../sessions/login-links.ts'
import { changePlanByOperator, createOrganizationByOperator } from './operator-changes.ts'
import { pageOrganizationUsage } from './organizations.ts'
import { includedEmails, type Plan } from './quota.ts'

/** The bytes of content of each organization, and its brands whose sending is paused: other features count them. */
export interface OrganizationFigures {
  /** undefined: not counted, or none. */
  readonly storedBytes: (id: Id<'org'>) => number | undefined
  readonly pausedBrands: (id: Id<'org'>) => readonly PausedBrandJson[]
}

export interface PausedBrandJson {
  readonly id: string
  readonly name: string
  readonly paused_at: string | null
  readonly reason: string | null
}

export interface OrganizationInstanceDeps {
  readonly db: Db
  readonly clock: Clock
  /** Where links lead, without a final slash. */
  readonly publicUrl: string
  readonly loadFigures: () => Promise<OrganizationFigures>
}

const plans = Object.keys(includedEmails) as readonly Plan[]

const instanceOrganizationSchema = t.Object(
  {
    id: t.String(),
    name: t.String(),
    plan: oneOf(plans),
    created_at: dateTimeSchema,
    updated_at: t.String({ format: 'date-time', description: 'When its name or plan last changed.' }),
    month: t.String(),
    used: t.Integer({ description: 'Emails accepted this month (UTC).' }),
    included: nullable(t.Integer({ description: 'null: any number.' })),
    overage: t.Integer(),
    stored_bytes: nullable(t.Integer({ description: 'Of its content; null: not counted.' })),
    paused_brands: t.Array(
      t.Object({ id: t.String(), name: t.String(), paused_at: nullable(dateTimeSchema), reason: nullable(t.String()) }),
    ),
  },
  { title: 'InstanceOrganization' },
)

const createdOrganizationSchema = t.Object({
  id: t.String(),
  name: t.String(),
  owner: t.Object({
    member_id: t.String(),
    email: t.String(),
    link: t.String({ description: 'Signs the owner in, once. It cannot be shown again.' }),
    link_expires_at: dateTimeSchema,
  }),
})

/** All organizations, for operators. */
export function organizationInstanceRoutes({ db, clock, publicUrl, loadFigures }: OrganizationInstanceDeps) {
  return sessionApi('instance organizations')
    .get(
      '/app/api/instance/organizations',
      async ({ query }) => {
        const size = pageSize(query.limit)
        const after = readIdCursor('org', query.cursor) ?? ''
        const [rows, figures] = await Promise.all([
          pageOrganizationUsage(db, clock.now(), { after, limit: size + 1 }),
          loadFigures(),
        ])
        const { page, next_cursor } = cutPage(rows, size, ({ id }) => [id])
        return {
          data: page.map(({ created_at, updated_at, ...rest }) => ({
            ...rest,
            created_at: toIso(created_at),
            updated_at: toIso(lastUpdatedAt({ created_at, updated_at })),
            stored_bytes: figures.storedBytes(rest.id) ?? null,
            paused_brands: [...figures.pausedBrands(rest.id)],
          })),
          next_cursor,
        }
      },
      {
        operator: 'session',
        query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()) }, { additionalProperties: false }),
        response: t.Object({ data: t.Array(instanceOrganizationSchema), next_cursor: nullable(t.String()) }),
        detail: describeRoute('listOrganizations', 'List all organizations, the oldest first', cursorRefusals),
      },
    )
    .post(
      '/app/api/instance/organizations',
      async ({ body, session, context, set }) => {
        const ownerEmail = canonicalEmail(body.owner_email)
        if (ownerEmail === undefined)
          throw refuse('invalid_request', {
            message: `\`owner_email\` is ${JSON.stringify(body.owner_email.slice(0, 80))}; expected an address such as name@example.com.`,
            param: 'owner_email',
          })
        const name = body.name.trim()
        if (name === '') throw refuse('invalid_request', { message: '`name` is empty.', param: 'name' })
        const { id, owner } = await createOrganizationByOperator(
          db,
          sessionActor(session, context, clock),
          { name, plan: body.plan },
          { owner: { email: ownerEmail, isOperator: false }, key: null },
        )
        if (!owner?.link) throw new Error('the new organization has no owner with a link')
        set.status = 201
        return {
          ...{ id, name },
          owner: {
            member_id: owner.memberId,
            email: owner.email,
            link: loginLinkUrl(publicUrl, owner.link),
            link_expires_at: toIso(owner.link.expiresAt),
          },
        }
      },
      {
        operator: 'confirmed',
        body: t.Object({
          name: t.String({ minLength: 1, maxLength: 120 }),
          plan: oneOf(plans),
          owner_email: t.String({ maxLength: 320 }),
        }),
        response: { 201: createdOrganizationSchema },
        detail: describeRoute('createOrganization', 'Create an organization with its first owner'),
      },
    )
    .post(
      '/app/api/instance/organizations/:id/plan',
      async ({ params: { id }, body, session, context }) => {
        const operator = sessionActor(session, context, clock)
        const changed = isId('org', id) ? await changePlanByOperator(db, operator, id, body.plan, body) : undefined
        if (!changed) throw refuse('not_found', { message: `There is no organization ${id}.` })
        return { id: changed.id, plan: changed.plan, updated_at: toIso(lastUpdatedAt(changed)) }
      },
      {
        operator: 'confirmed',
        params: idParamsSchema,
        body: t.Object({ plan: oneOf(plans), if_updated_at: ifUpdatedAtSchema }),
        response: t.Object({ id: t.String(), plan: oneOf(plans), updated_at: dateTimeSchema }),
        detail: describeRoute('changePlan', 'Move an organization to another plan', [
          'not_found',
          ...ifUpdatedAtRefusals,
        ]),
      },
    )
}
