import { t } from 'elysia'

type AnySchema = Parameters<typeof t.Union>[0][number]

/** ISO 8601, UTC, six decimals. */
export const dateTimeSchema = t.String({ format: 'date-time' })

export const nullable = <Of extends AnySchema>(shape: Of) => t.Union([shape, t.Null()])

/** One of these words. Not t.UnionEnum: that has a default, which Elysia fills in where a query says nothing. */
export function oneOf<const Choice extends string>(choices: readonly Choice[], options?: { description: string }) {
  return t.Union(
    choices.map(choice => t.Literal(choice)),
    options,
  ) as unknown as ReturnType<typeof t.Unsafe<Choice>>
}

/** The `{id}` of a path. */
export const idParamsSchema = t.Object({ id: t.String({ minLength: 1 }) })
