import { t } from 'elysia'
import { brandSlugSchema } from '../../accounts/brands/schema.ts'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { ifUpdatedAtSchema } from '../../api/if-updated-at.ts'
import { toIso } from '../../base/clock.ts'
import { type DatabaseSchema, fromJson } from '../../base/database/schema.ts'

const name = t.String({
  minLength: 1,
  maxLength: 120,
  pattern: '^(?=.*\\S)[^\\x00-\\x1f\\x7f]*$',
  expected: 'a name of 1 to 120 characters on one line',
})
const variableName = t.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,119}$',
  expected: 'a name of 1 to 120 letters, digits, hyphens and underscores that starts with a letter or an underscore',
})
const subject = t.String({ maxLength: 998, description: 'Liquid; line breaks become spaces when it is rendered.' })
const text = t.String({ description: 'Liquid, at most 512 KiB.' })
const html = t.String({ description: 'Liquid, at most 512 KiB; outputs are escaped unless they end in `| raw`.' })
const variables = t.Array(
  t.Object({
    name: variableName,
    required: t.Optional(t.Boolean()),
    default: t.Optional(t.Unknown({ description: 'The value when a send gives none; null: no default.' })),
  }),
  { maxItems: 100 },
)

/** The body of POST /v1/templates. */
export const newTemplateSchema = t.Object({
  brand_id: t.Optional(t.String()),
  slug: brandSlugSchema,
  name: t.Optional(name),
  subject: t.Optional(subject),
  text: t.Optional(text),
  html: t.Optional(html),
  variables: t.Optional(variables),
})
export type NewTemplate = typeof newTemplateSchema.static

/** The body of PATCH /v1/templates/{slug}. */
export const templateChangeSchema = t.Object({
  slug: t.Optional(brandSlugSchema),
  name: t.Optional(name),
  subject: t.Optional(nullable(subject)),
  text: t.Optional(nullable(text)),
  html: t.Optional(nullable(html)),
  variables: t.Optional(variables),
  if_updated_at: ifUpdatedAtSchema,
})
export type TemplateChange = typeof templateChangeSchema.static

/** A template as the API shows it. */
export const templateSchema = t.Object(
  {
    id: t.String(),
    brand_id: t.String(),
    slug: t.String(),
    name: t.String(),
    subject: nullable(t.String()),
    text: nullable(t.String()),
    html: nullable(t.String()),
    variables: t.Array(t.Object({ name: t.String(), required: t.Boolean(), default: t.Unknown() })),
    created_at: dateTimeSchema,
    updated_at: dateTimeSchema,
  },
  { title: 'Template' },
)
export type TemplateJson = typeof templateSchema.static

export const templatePageSchema = t.Object(
  { data: t.Array(templateSchema), next_cursor: nullable(t.String()) },
  { title: 'TemplatePage' },
)

/** The values of a template's variables by name, in a preview and in a send. */
export const variablesSchema = t.Record(t.String(), t.Unknown(), { description: 'At most 64 KiB of JSON.' })

export const templatePreviewSchema = t.Object(
  {
    subject: nullable(t.String()),
    text: nullable(t.String()),
    html: nullable(t.String()),
    missing_variables: t.Array(t.String(), { description: 'Required ones that have neither a value nor a default.' }),
  },
  { title: 'TemplatePreview' },
)
export type TemplatePreview = typeof templatePreviewSchema.static

/** A template that is not stored, and values for its variables. */
export const unsavedTemplateSchema = t.Object({
  subject: t.Optional(subject),
  text: t.Optional(text),
  html: t.Optional(html),
  variables: t.Optional(variables),
  values: t.Optional(variablesSchema),
})

export function toJsonTemplate(row: DatabaseSchema['templates']): TemplateJson {
  return {
    id: row.id,
    brand_id: row.brand_id,
    slug: row.slug,
    name: row.name,
    subject: row.subject,
    text: row.text,
    html: row.html,
    variables: fromJson(row.variables).map(variable => ({ ...variable })),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  }
}
