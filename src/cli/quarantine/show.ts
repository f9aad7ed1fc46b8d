import { selectAuditEntries } from '../../accounts/audit/table.ts'
import { systemClock, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import { isId } from '../../base/ids.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { findQuarantined, type QuarantinedMessage } from '../../inbox/quarantine/quarantine.ts'
import { bodyStart } from '../../mail/header.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { describeQuarantined, toJsonQuarantined } from './format.ts'

const maxHeaderBytes = 64 * 1024

export async function runShow(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [id = ''] = readArguments(args, { words: ['MESSAGE'] }).words
  if (!isId('msg', id)) throw new UsageError(`"${id}" is not the id of a message`)
  const { message, header, deeds } = await withDatabase(env, async db => {
    const message = await findQuarantined(db, id)
    if (!message) throw new CommandError(`There is no message ${id}.`)
    const deeds = await selectAuditEntries(db, { subject: id }, { limit: 100 })
    return { message, header: await headerOf(db, message), deeds }
  })
  const told = deeds.map(({ at, actor, action, detail }) => ({
    ...{ at: toIso(at), actor, action },
    detail: fromJson(detail),
  }))
  const { folder, folder_reason, spf, dkim, dmarc, helo, remote_ip, rescan_at } = message
  return {
    json: { ...toJsonQuarantined(message), header, audit: told },
    text: [
      describeQuarantined(message),
      `  in ${folder} (${folder_reason}), of ${message.organization_id}`,
      `  came from ${remote_ip} (${sanitizeForTerminal(helo)}); spf ${spf}, dkim ${dkim}, dmarc ${dmarc}`,
      ...(rescan_at ? [`  scanned again ${toIso(rescan_at)}`] : []),
      ...told.map(each => `  ${each.at}  ${sanitizeForTerminal(each.actor)}  ${each.action}`),
      '',
      header === null ? 'Its bytes are gone.' : header.split(/\r?\n/).map(sanitizeForTerminal).join('\n').trimEnd(),
    ].join('\n'),
  }
}

/** Its header as it came; null: its bytes are there no more. */
async function headerOf(db: Db, { organization_id, blob_id }: QuarantinedMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  try {
    const bytes = mysqlBlobs(db, systemClock).read(organization_id, blob_id, { end: maxHeaderBytes })
    for await (const chunk of bytes) chunks.push(chunk)
  } catch {
    return null
  }
  const first = Buffer.concat(chunks)
  return first.subarray(0, bodyStart(first) ?? first.length).toString()
}
