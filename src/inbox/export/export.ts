import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Folder } from '../../base/database/schema.ts'
import { mboxrd } from '../../mail/mbox.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { deliveredBytes, effectiveScan, isHarmless } from '../messages/download.ts'
import { type ExportCursor, type ExportedRow, type ExportScope, selectExportBatch } from './table.ts'

export interface ExportDeps {
  readonly db: Db
  readonly blobs: BlobStore
  /** Our name in Received and Authentication-Results. */
  readonly hostname: string
}

export interface ExportOptions {
  readonly scope: ExportScope
  readonly folders: readonly Folder[]
  /** Received at this time or later. */
  readonly since: Instant
  /** Exports also messages that are infected or could not be scanned. */
  readonly infected: boolean
}

/** A message of an export. `unsafe`: left out, as it is not known to be harmless. `removed`: retention deleted its bytes. */
export type ExportedMessage =
  | { readonly kind: 'message'; readonly bytes: AsyncIterable<Buffer> }
  | { readonly kind: 'unsafe' | 'removed' }

const batchSize = 100

/**
 * Messages in the format mboxrd, folder by folder, the oldest first. Each is as it was delivered (see download.ts), below
 * fields with its mailbox, its folder and its id. Only one message's bytes are read at a time.
 */
export async function* exportMessages(deps: ExportDeps, options: ExportOptions): AsyncGenerator<ExportedMessage> {
  for (const folder of options.folders)
    for (let cursor: ExportCursor = { receivedAt: options.since, id: '' }; ; ) {
      const rows = await selectExportBatch(deps.db, options.scope, folder, cursor, batchSize)
      for (const row of rows) yield exportRow(deps, row, options)
      const last = rows.at(-1)
      if (!last || rows.length < batchSize) break
      cursor = { receivedAt: last.received_at, id: last.id }
    }
}

function exportRow(deps: ExportDeps, row: ExportedRow, { infected }: ExportOptions): ExportedMessage {
  if (row.raw_purged_at !== null) return { kind: 'removed' }
  if (!infected && !isHarmless(effectiveScan(row))) return { kind: 'unsafe' }
  const separator = { mailFrom: row.mail_from, receivedAt: row.received_at }
  return { kind: 'message', bytes: mboxrd(withFields(deps, row), separator) }
}

/** Unix mail programs know Status: R for read, O for seen in a list. */
async function* withFields(deps: ExportDeps, row: ExportedRow): AsyncGenerator<Buffer> {
  const fields = [
    `Delivered-To: ${row.rcpt_to.replace(/[\r\n]+/g, ' ')}`,
    `X-Mailroom-Id: ${row.id}`,
    `X-Mailroom-Folder: ${row.folder}`,
    `Status: ${row.is_read === 1 ? 'RO' : 'O'}`,
  ]
  yield Buffer.from(`${fields.join('\r\n')}\r\n`)
  yield* deliveredBytes(deps, row)
}
