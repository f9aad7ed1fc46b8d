import { dayMs, plusMs, toIso } from '../../base/clock.ts'
import { countWebhookStates, selectDisabledSince } from '../../events/webhooks/table.ts'
import { isAlive } from '../processes/processes.ts'
import { selectProcesses } from '../processes/table.ts'
import type { DoctorCheck } from './check.ts'
import { ok, skipped, warning } from './finding.ts'

const recentMs = 7 * dayMs
const maxNamed = 5
const maxProcesses = 200

const disabledCheck: DoctorCheck = {
  name: 'webhooks_disabled',
  area: 'webhooks',
  async run({ db, clock }) {
    const { active, failing, disabled } = await countWebhookStates(db)
    if (active + failing + disabled === 0) return skipped('there are no webhooks')
    const recent = await selectDisabledSince(db, plusMs(clock.now(), -recentMs), maxNamed)
    if (recent.length === 0) return ok(`${active} webhooks are active, ${failing} fail and ${disabled} are disabled`)
    const named = recent.map(
      ({ id, disabled_at, disabled_reason }) => `${id} (${disabled_reason}, ${disabled_at && toIso(disabled_at)})`,
    )
    return warning(
      `webhooks were disabled within a week: ${named.join(', ')}`,
      'Their organizations get no events there any more. Once the endpoint works again: ./mailroom webhook enable ID, which goes on from where it stopped as long as events are kept.',
    )
  },
}

const roleCheck: DoctorCheck = {
  name: 'webhooks_role',
  area: 'webhooks',
  async run({ db, clock, config }) {
    const { active, failing } = await countWebhookStates(db)
    if (active + failing === 0) return skipped('there are no enabled webhooks')
    const now = clock.now()
    const processes = (await selectProcesses(db, maxProcesses)).filter(row => isAlive(row, now))
    const isDelivering = (roles: string) => roles.split(',').includes('webhooks')
    if (config.roles.includes('webhooks') || processes.some(row => isDelivering(row.roles)))
      return ok('a process delivers to webhooks')
    return warning(
      'there are webhooks, and no process has the role webhooks',
      'Add `webhooks` to MAILROOM_ROLES of a process; their events wait, as long as events are kept.',
    )
  },
}

export const webhookChecks: readonly DoctorCheck[] = [roleCheck, disabledCheck]
