import { t } from 'elysia'

type AnySchema = Parameters<typeof t.Union>[0][number]

/** ISO 8601 in UTC with six decimals. */
export const dateTimeSchema = t.String({ format: 'date-time' })

export const nullable = <Of extends AnySchema>(schema: Of) => t.Union([schema, t.Null()])

/** One of these strings. Not t.UnionEnum: that has a default, which Elysia fills in where a query leaves it out. */
export function oneOf<const Choice extends string>(choices: readonly Choice[], options?: { description: string }) {
  return t.Union(
    choices.map(choice => t.Literal(choice)),
    options,
  ) as unknown as ReturnType<typeof t.Unsafe<Choice>>
}

/** The path parameter `id`. */
export const idParamsSchema = t.Object({ id: t.String({ minLength: 1 }) })
