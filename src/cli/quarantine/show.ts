import { selectAuditEntries } from '../../accounts/audit/table.ts'
import { systemClock, toIso } from '../../base/clock.ts'
import { fromJson } from '../../base/database/schema.ts'
import { CommandError } from '../../base/operator-error.ts'
import { findQuarantined, readQuarantinedHeader } from '../../inbox/quarantine/quarantine.ts'
import { toJsonQuarantined } from '../../inbox/quarantine/schema.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { defineCommand } from '../command.ts'
import { withDatabase } from '../database.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { messageId } from '../values.ts'
import { describeQuarantined } from './format.ts'

export const show = defineCommand({
  name: 'quarantine show',
  summary: 'Show all that is known of a message in quarantine',
  details: 'Shows its header, the results of its checks, and what operators did with it.',
  arguments: { id: messageId },
  async run({ id }, { env }) {
    const { message, header, entries } = await withDatabase(env, async db => {
      const message = await findQuarantined(db, id)
      if (!message) throw new CommandError(`There is no message ${id}.`)
      const entries = await selectAuditEntries(db, { subject: id }, { limit: 100 })
      return { message, header: await readQuarantinedHeader(mysqlBlobs(db, systemClock), message), entries }
    })
    const audit = entries.map(({ at, actor, action, detail }) => ({
      at: toIso(at),
      actor,
      action,
      detail: fromJson(detail),
    }))
    const { folder, folder_reason, spf, dkim, dmarc, helo, remote_ip, rescan_at } = message
    return {
      json: { ...toJsonQuarantined(message), header, audit },
      text: [
        describeQuarantined(message),
        `  in ${folder} (${folder_reason}), of ${message.organization_id}`,
        `  received from ${remote_ip} (${sanitizeForTerminal(helo)}); spf ${spf}, dkim ${dkim}, dmarc ${dmarc}`,
        ...(rescan_at ? [`  scanned again ${toIso(rescan_at)}`] : []),
        ...audit.map(({ at, actor, action }) => `  ${at}  ${sanitizeForTerminal(actor)}  ${action}`),
        '',
        header === null
          ? 'Its content was deleted.'
          : header.split(/\r?\n/).map(sanitizeForTerminal).join('\n').trimEnd(),
      ].join('\n'),
    }
  },
})
