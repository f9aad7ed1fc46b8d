import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { emailStatuses, folders } from '../../base/database/schema.ts'

const boundedCount = {
  count: t.Integer(),
  more: t.Boolean({ description: 'There are more than `count`.' }),
}

const lampSchema = t.Object(
  {
    name: oneOf([
      'domains_not_ready',
      'emails_unconfirmed',
      'bounces_high',
      'quarantine_waiting',
      'brands_paused',
      'quota_high',
      'webhooks_disabled',
    ]),
    level: oneOf(['notice', 'warning', 'critical']),
    ...boundedCount,
    unit: oneOf(['items', 'percent'], { description: 'What `count` counts.' }),
    since: nullable(dateTimeSchema),
    detail: nullable(t.String({ description: 'A sentence of what it is based on, where the count does not say it.' })),
    href: t.String({ description: 'The screen where it is mended, below the organization.' }),
  },
  { title: 'StatusLamp' },
)
export type StatusLamp = typeof lampSchema.static

/** What is wrong in the organization; empty: nothing is. */
export const statusSchema = t.Object({ data: t.Array(lampSchema) }, { title: 'OrganizationStatus' })

const hourSchema = t.Object(
  {
    at: dateTimeSchema,
    received: nullable(t.Integer({ description: 'Messages received; null: not counted yet, or not to be seen.' })),
    accepted: nullable(t.Integer({ description: 'Emails accepted for sending; null as for `received`.' })),
    more: t.Boolean({ description: 'A count stopped at its limit.' }),
  },
  { title: 'HourlyCount' },
)

const statusCountSchema = t.Object({ status: oneOf(emailStatuses), ...boundedCount }, { title: 'StatusCount' })
export type StatusCount = typeof statusCountSchema.static

const recentEventSchema = t.Object(
  {
    id: t.String(),
    at: dateTimeSchema,
    kind: oneOf(['email', 'message']),
    type: t.Union([oneOf(emailStatuses), t.Literal('replied'), t.Literal('received')]),
    subject_id: t.String({ description: 'The email, or the message.' }),
    address: nullable(t.String({ description: 'The recipient, or the sender of the message.' })),
    subject: t.String(),
    folder: nullable(oneOf(folders)),
  },
  { title: 'RecentEvent' },
)
export type RecentEvent = typeof recentEventSchema.static

const firstStepsSchema = t.Object(
  {
    domain_ready: t.Boolean(),
    mailbox: t.Boolean(),
    first_in: t.Boolean(),
    first_out: t.Boolean(),
    key: t.Boolean(),
  },
  { title: 'FirstSteps' },
)

/** The organization's screen Today. */
export const todaySchema = t.Object(
  {
    hours: t.Array(hourSchema, { description: 'The last 7 days, oldest first; the last one is not over.' }),
    complete: t.Boolean({ description: 'false: ask again, some hours are not counted yet.' }),
    statuses: nullable(
      t.Array(statusCountSchema, { description: 'The emails accepted in the last 24 hours, by their status now.' }),
    ),
    attention: t.Array(lampSchema, { description: 'What needs a person.' }),
    events: t.Array(recentEventSchema),
    first_steps: firstStepsSchema,
  },
  { title: 'Today' },
)
export type Today = typeof todaySchema.static
