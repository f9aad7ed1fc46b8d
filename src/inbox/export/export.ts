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
  /** Our name, as Received and Authentication-Results say it. */
  readonly hostname: string
}

/** What is exported. */
export interface ExportOptions {
  readonly scope: ExportScope
  readonly folders: readonly Folder[]
  /** Received at this time or later. */
  readonly since: Instant
  /** Also what the scanner found infected or could not scan. */
  readonly infected: boolean
}

/** A message of an export; `bytes` are there unless it is left out: not known to be harmless, or removed by retention. */
export type ExportedMessage =
  | { readonly kind: 'message'; readonly bytes: AsyncIterable<Buffer> }
  | { readonly kind: 'unsafe' | 'removed' }

const batchSize = 100

/**
 * Messages as parts of a file of the format mboxrd, folder by folder, the oldest first. Each is as it was delivered (see
 * download.ts), with the mailbox that it came to, its folder and its id before that. One message's bytes at a time.
 */
export async function* exportMessages(deps: ExportDeps, wanted: ExportOptions): AsyncGenerator<ExportedMessage> {
  for (const folder of wanted.folders)
    for (let place: ExportCursor = { receivedAt: wanted.since, id: '' }; ; ) {
      const rows = await selectExportBatch(deps.db, wanted.scope, folder, place, batchSize)
      for (const row of rows) yield exportRow(deps, row, wanted)
      const last = rows.at(-1)
      if (!last || rows.length < batchSize) break
      place = { receivedAt: last.received_at, id: last.id }
    }
}

function exportRow(deps: ExportDeps, row: ExportedRow, { infected }: ExportOptions): ExportedMessage {
  if (row.raw_purged_at !== null) return { kind: 'removed' }
  if (!infected && !isHarmless(effectiveScan(row))) return { kind: 'unsafe' }
  const separator = { mailFrom: row.mail_from, receivedAt: row.received_at }
  return { kind: 'message', bytes: mboxrd(withFields(deps, row), separator) }
}

/** Status is what mail programs of Unix know: read (R), and seen in a list (O). */
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
