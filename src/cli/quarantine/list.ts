import { listQuarantine } from '../../inbox/quarantine/quarantine.ts'
import { toJsonQuarantined } from '../../inbox/quarantine/schema.ts'
import { defineCommand } from '../command.ts'
import { withDatabase } from '../database.ts'
import { requireOrganization } from '../require-organization.ts'
import { choice, limit } from '../values.ts'
import { filterOptions, quarantineFilter } from './filter.ts'
import { describeQuarantined } from './format.ts'

export const list = defineCommand({
  name: 'quarantine list',
  summary: 'List the messages in quarantine',
  details:
    'The newest comes first, with the hashes of the message and of its attachments, and the verdict of the scanner.',
  options: {
    ...filterOptions,
    reason: { ...choice(['infected', 'unscanned']), description: 'only those that are here for this reason' },
    limit,
  },
  async run({ org, sha256, reason, limit }, { env }) {
    const filter = { ...quarantineFilter({ org, sha256 }), ...(reason !== undefined && { reason }) }
    const messages = await withDatabase(env, async db => {
      if (org !== undefined) await requireOrganization(db, org)
      return listQuarantine(db, filter, { limit })
    })
    return {
      json: messages.map(toJsonQuarantined),
      text: messages.map(describeQuarantined).join('\n') || 'The quarantine is empty.',
    }
  },
})
