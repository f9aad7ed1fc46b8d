import { toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import { disableByOperator, enableByOperator } from '../../events/webhooks/operator.ts'
import { statusOf, toJsonWebhook } from '../../events/webhooks/schema.ts'
import { selectAnyWebhook, selectWebhooks, type WebhookRow } from '../../events/webhooks/table.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { requireOrganization } from '../require-organization.ts'
import { organizationId, webhookId } from '../values.ts'

export const list = defineCommand({
  name: 'webhook list',
  summary: 'List the webhooks of an organization, or all of them',
  options: { org: { ...organizationId, description: 'only webhooks of this organization' } },
  async run({ org }, { env }) {
    const rows = await withDatabase(env, async db => {
      if (org !== undefined) await requireOrganization(db, org)
      return selectWebhooks(db, org ?? null)
    })
    const json = rows.map(row => ({ ...toJsonWebhook(row), organization_id: row.organization_id }))
    return { json, text: rows.map(line).join('\n') }
  },
})

export const disable = defineCommand({
  name: 'webhook disable',
  summary: 'Deliver nothing more to a webhook until it is enabled',
  details: 'Its events wait, as long as events are kept. The organization gets an event and an audit entry.',
  arguments: { id: webhookId },
  async run({ id }, { env }) {
    await withDatabase(env, async db => requireFound(await disableByOperator(db, currentOperator(env), id), id))
    return { json: { id, disabled: true }, text: `Disabled ${id}.` }
  },
})

export const enable = defineCommand({
  name: 'webhook enable',
  summary: 'Deliver to a disabled webhook again, from where it stopped',
  details: `The key or member that made it must still be allowed to see its types of events; otherwise it is disabled again, and
whoever may see them has to enable it (PATCH /v1/webhooks/{id}).`,
  arguments: { id: webhookId },
  async run({ id }, { env }) {
    await withDatabase(env, async db => requireFound(await enableByOperator(db, currentOperator(env), id), id))
    return { json: { id, disabled: false }, text: `Enabled ${id}.` }
  },
})

/** @throws CommandError */
export async function requireWebhook(db: Db, id: WebhookRow['id']): Promise<WebhookRow> {
  return requireFound(await selectAnyWebhook(db, id), id)
}

function requireFound(row: WebhookRow | undefined, id: string): WebhookRow {
  if (row) return row
  throw new CommandError(`There is no webhook ${id}.`)
}

function line(row: WebhookRow): string {
  const { last_success_at, failing_since, disabled_reason } = row
  const state = disabled_reason === null ? statusOf(row) : `disabled: ${disabled_reason}`
  const times = [
    `last success ${last_success_at === null ? 'never' : toIso(last_success_at)}`,
    ...(failing_since === null ? [] : [`failing since ${toIso(failing_since)}`]),
  ]
  return `${row.id}  ${row.organization_id}  ${row.url}  (${state}; ${times.join('; ')})\n  ${row.types}`
}
