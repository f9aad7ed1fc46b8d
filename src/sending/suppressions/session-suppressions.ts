import { recordCallerEntry } from '../../accounts/audit/audit.ts'
import { loadBrand } from '../../accounts/brands/brands.ts'
import { selectBrands } from '../../accounts/brands/table.ts'
import { encodeCursor, readIdCursor, readInstant } from '../../api/page.ts'
import { requireMemberScope } from '../../api/session/member-scope.ts'
import type { SessionMember } from '../../api/session/session.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { suppressionCsvHeader, suppressionCsvLine } from './files/csv.ts'
import { exportSuppressions } from './files/export.ts'
import { importContext, importLines } from './files/import-lines.ts'
import { csvEntries, SuppressionFileError, type SuppressionFileLine } from './files/read-file.ts'
import type { importPieceSchema, importResultSchema, undoResultSchema, undoSchema } from './session-schema.ts'
import type { SuppressionsDeps } from './suppressions.ts'
import type { SuppressionReason } from './table.ts'
import { type UndoneSuppression, undoBatch } from './undo.ts'
import type { SuppressionIncident } from './undo-table.ts'

/** The refusals of what is done to suppressions in the dashboard alone. */
export const sessionSuppressionRefusals = ['insufficient_scope', 'brand_restricted', 'not_found'] as const

/**
 * Imports a piece of a CSV file, or with `dry_run` reports what that would do. The same piece can be sent again.
 * @throws Refusal `invalid_request` when the file as a whole cannot be read, and {@link sessionSuppressionRefusals}
 */
export async function importPiece(
  { db, clock }: SuppressionsDeps,
  member: SessionMember,
  piece: typeof importPieceSchema.static,
): Promise<typeof importResultSchema.static> {
  requireMemberScope(member, 'suppressions:write')
  const { organizationId, person } = member
  const brands = await selectBrands(db, organizationId, member.brandId)
  const brandId =
    piece.brand_id === undefined ? undefined : (await loadBrand(db, member, piece.brand_id, 'brand_id')).id
  const operator = { actor: person.email, clock, ip: person.ip }
  const context = importContext(organizationId, brands, brandId)
  try {
    const { badLines, ...counts } = await importLines(db, linesOfPiece(piece), context, operator, {
      isDry: piece.dry_run,
    })
    return { ...counts, bad_lines: [...badLines] }
  } catch (error) {
    if (!(error instanceof SuppressionFileError)) throw error
    throw refuse('invalid_request', { message: error.message, param: 'header' })
  }
}

/** The entries of a piece, numbered as in its file. */
async function* linesOfPiece(piece: typeof importPieceSchema.static): AsyncGenerator<SuppressionFileLine> {
  const text = `${piece.header.replace(/[\r\n]+/g, '')}\n${piece.lines}`
  const offset = piece.first_line - 2
  for await (const line of csvEntries(bytesOf(text))) yield { ...line, line: line.line + offset }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/**
 * A CSV file of the suppressions that are live now, the newest first, which the import reads. It is read from the database as
 * it is sent.
 * @throws Refusal {@link sessionSuppressionRefusals}
 */
export async function exportFile(
  { db, clock }: SuppressionsDeps,
  member: SessionMember,
  reason: SuppressionReason | undefined,
): Promise<ReadableStream<Uint8Array>> {
  requireMemberScope(member, 'suppressions:read')
  const filter = { organizationId: member.organizationId, brandId: member.brandId, reason: reason ?? null }
  await inTransaction(db, tx =>
    recordCallerEntry(tx, member, clock, {
      action: 'suppressions.export',
      subject: member.organizationId,
      detail: { brand_id: filter.brandId, reason: filter.reason },
    }),
  )
  const batches = exportSuppressions(db, filter, clock.now())
  return new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(Buffer.from(suppressionCsvHeader)),
    async pull(controller) {
      const { done, value } = await batches.next()
      if (done) controller.close()
      else controller.enqueue(Buffer.from(value.map(suppressionCsvLine).join('')))
    },
    cancel: () => void batches.return(undefined),
  })
}

/** A call checks at most so many suppressions, and goes on for at most so long. */
const maxChecked = 20_000
const maxMs = 2000
const maxExamples = 100

/**
 * Undoes the automatic suppressions of an incident, as many as one request should; the caller goes on with `next_cursor`.
 * @throws Refusal `invalid_request`, `invalid_cursor`, {@link sessionSuppressionRefusals}
 */
export async function undoIncident(
  { db, clock }: SuppressionsDeps,
  member: SessionMember,
  { cursor, dry_run: isDry, ...request }: typeof undoSchema.static,
): Promise<typeof undoResultSchema.static> {
  requireMemberScope(member, 'suppressions:write')
  const incident = readIncident(member, request)
  const record = (tx: Db, undone: readonly UndoneSuppression[]) =>
    recordCallerEntry(tx, member, clock, {
      action: 'suppressions.undo',
      subject: member.organizationId,
      detail: { ...incident, undone: undone.length },
    })
  const examples: UndoneSuppression[] = []
  const counts = { checked: 0, undone: 0 }
  const startedMs = performance.now()
  let after: Id<'sup'> | null = readIdCursor('sup', cursor)
  while (counts.checked < maxChecked && performance.now() - startedMs < maxMs) {
    const batch = await undoBatch(db, incident, after ?? '', { isDry, record })
    if (!batch) return { ...counts, examples: examples.map(toJsonExample), next_cursor: null }
    counts.checked += batch.checkedCount
    counts.undone += batch.undone.length
    examples.push(...batch.undone.slice(0, maxExamples - examples.length))
    after = batch.last
  }
  return { ...counts, examples: examples.map(toJsonExample), next_cursor: after && encodeCursor(after) }
}

function readIncident(
  { organizationId, brandId }: SessionMember,
  { reply, from, to }: Pick<typeof undoSchema.static, 'reply' | 'from' | 'to'>,
): SuppressionIncident {
  const window = {
    ...(from !== undefined && { from: readInstant(from, 'from') }),
    ...(to !== undefined && { to: readInstant(to, 'to') }),
  }
  if (reply === undefined && (window.from === undefined || window.to === undefined))
    throw refuse('invalid_request', { message: 'Say which ones: `reply`, or `from` and `to`.' })
  if (window.from !== undefined && window.to !== undefined && window.from >= window.to)
    throw refuse('invalid_request', { message: '`from` is not before `to`.', param: 'from' })
  return {
    organizationId,
    ...(brandId !== null && { brandId }),
    ...(reply !== undefined && { reply: reply.trim() }),
    ...window,
  }
}

function toJsonExample({ email, brand_id, reason, evidence, suppressed_at, stays_unsubscribed }: UndoneSuppression) {
  return { email, brand_id, reason, evidence, suppressed_at, stays_unsubscribed }
}
