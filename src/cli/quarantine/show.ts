import { selectAudit } from '../../accounts/audit/table.ts'
import { systemClock, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import { isId } from '../../base/ids.ts'
import { CommandTrouble, UsageTrouble } from '../../base/operator-error.ts'
import { findQuarantined, type Quarantined } from '../../inbox/quarantine/quarantine.ts'
import { bodyStart } from '../../mail/header.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { type Environment, onDatabase, readArgs, type Told } from '../command.ts'
import { plain } from '../text.ts'
import { line, shape } from './format.ts'

const maxHeaderBytes = 64 * 1024

export async function show(args: readonly string[], env: Environment): Promise<Told> {
  const [id = ''] = readArgs(args, { words: ['MESSAGE'] }).words
  if (!isId('msg', id)) throw new UsageTrouble(`"${id}" is not the id of a message`)
  const { message, header, deeds } = await onDatabase(env, async db => {
    const message = await findQuarantined(db, id)
    if (!message) throw new CommandTrouble(`There is no message ${id}.`)
    const deeds = await selectAudit(db, { subject: id }, { limit: 100 })
    return { message, header: await headerOf(db, message), deeds }
  })
  const told = deeds.map(({ at, actor, action, detail }) => ({
    ...{ at: toIso(at), actor, action },
    detail: fromJson(detail),
  }))
  const { folder, folder_reason, spf, dkim, dmarc, helo, remote_ip, rescan_at } = message
  return {
    json: { ...shape(message), header, audit: told },
    text: [
      line(message),
      `  in ${folder} (${folder_reason}), of ${message.organization_id}`,
      `  came from ${remote_ip} (${plain(helo)}); spf ${spf}, dkim ${dkim}, dmarc ${dmarc}`,
      ...(rescan_at ? [`  scanned again ${toIso(rescan_at)}`] : []),
      ...told.map(each => `  ${each.at}  ${plain(each.actor)}  ${each.action}`),
      '',
      header === null ? 'Its bytes are gone.' : header.split(/\r?\n/).map(plain).join('\n').trimEnd(),
    ].join('\n'),
  }
}

/** Its header as it came; null: its bytes are there no more. */
async function headerOf(db: Db, { organization_id, blob_id }: Quarantined): Promise<string | null> {
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
