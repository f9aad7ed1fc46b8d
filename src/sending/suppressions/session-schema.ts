import { t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { suppressionReasonFilterSchema } from './schema.ts'

/** The most characters of a file that one request carries. */
const maxPieceLength = 1024 * 1024
const maxHeaderLength = 4096

/** A piece of a CSV file. Pieces end where a line of the file ends that is not inside quotes. */
export const importPieceSchema = t.Object({
  header: t.String({ maxLength: maxHeaderLength, description: 'The first line of the file, which names the fields.' }),
  lines: t.String({ maxLength: maxPieceLength }),
  first_line: t.Integer({ minimum: 2, description: 'The number in the file of the first of these lines.' }),
  brand_id: t.Optional(t.String({ description: 'The brand of lines that name none.' })),
  dry_run: t.Boolean(),
})

export const importResultSchema = t.Object(
  {
    added: t.Integer(),
    unchanged: t.Integer({ description: 'They were on the list already.' }),
    bad: t.Integer({ description: 'Lines that could not be read.' }),
    bad_lines: t.Array(t.Object({ line: t.Integer(), reason: t.String() })),
  },
  { title: 'SuppressionImport' },
)

const maxReplyLength = 500

export const undoSchema = t.Object({
  reply: t.Optional(
    t.String({
      minLength: 1,
      maxLength: maxReplyLength,
      pattern: '\\S',
      description: 'Text in the reply or report that caused them, in upper or lower case.',
    }),
  ),
  from: t.Optional(t.String({ description: 'Added at this time or later.' })),
  to: t.Optional(t.String({ description: 'Added before this time.' })),
  dry_run: t.Boolean(),
  cursor: t.Optional(t.String({ description: '`next_cursor` of the call before: it goes on from there.' })),
})

export const undoResultSchema = t.Object(
  {
    checked: t.Integer(),
    undone: t.Integer(),
    examples: t.Array(
      t.Object({
        email: t.String(),
        brand_id: t.String(),
        reason: t.String(),
        evidence: nullable(t.String()),
        suppressed_at: dateTimeSchema,
        stays_unsubscribed: t.Boolean(),
      }),
      { description: 'Some of those that were undone.' },
    ),
    next_cursor: nullable(t.String({ description: 'null: everything was checked.' })),
  },
  { title: 'SuppressionUndo' },
)

export const exportQuerySchema = t.Object({ reason: t.Optional(suppressionReasonFilterSchema) })
