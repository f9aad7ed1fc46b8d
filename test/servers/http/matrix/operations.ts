import type { JsonSchema } from '../../../../src/api/json-schema.ts'
import { openApiDocument } from '../../../harness/openapi-document.ts'
import { type ResourceKind, type Resources, unknownIds } from './resources.ts'
import { type MatrixRow, rows } from './rows.ts'

/** An operation of the description, with its row of the table. */
export interface MatrixOperation {
  readonly id: string
  readonly method: string
  /** `/v1/brands/{id}` */
  readonly path: string
  readonly scopes: readonly string[]
  readonly organizationOnly: boolean
  readonly takesKey: boolean
  /** The schema of its body; undefined: it takes none. */
  readonly body: JsonSchema | undefined
  readonly queryNames: readonly string[]
  readonly row: MatrixRow
}

/** Those that are tested elsewhere: they speak another protocol. */
const others = ['mcp']

const document = openApiDocument()

function resolve(schema: JsonSchema | undefined): JsonSchema | undefined {
  const ref = schema?.['$ref']
  return typeof ref === 'string' ? document.components.schemas[ref.split('/').at(-1) ?? ''] : schema
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: JsonSchema } }
}

/** What the description has and the table has not, and the other way round. */
export const unmatched: string[] = []

/** All operations below /v1, in the order of the table. */
export const operations: readonly MatrixOperation[] = readOperations()

function readOperations(): readonly MatrixOperation[] {
  const found = new Map<string, MatrixOperation>()
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, described] of Object.entries(methods)) {
      const { operationId: id, parameters, requestBody } = described
      if (!path.startsWith('/v1/') || others.includes(id)) continue
      const row = rows[id]
      if (!row) {
        unmatched.push(id)
        continue
      }
      const named = parameters as readonly { readonly in?: string; readonly name?: string; readonly $ref?: string }[]
      found.set(id, {
        id,
        method: method.toUpperCase(),
        path,
        scopes: described['x-scopes'] ?? [],
        organizationOnly: described['x-organization-only'] ?? false,
        takesKey: named.some(each => each.$ref === '#/components/parameters/IdempotencyKey'),
        body: resolve((requestBody as Body | undefined)?.content['application/json'].schema),
        queryNames: named.flatMap(each => (each.in === 'query' && each.name !== undefined ? [each.name] : [])),
        row,
      })
    }
  const ordered = Object.keys(rows)
  unmatched.push(...ordered.filter(id => !found.has(id)))
  return ordered.flatMap(id => found.get(id) ?? [])
}

/** A request of an operation. */
export interface MatrixRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** The request as it should be, but for the parameters of the path that `instead` names. */
export function requestFor(
  { method, path, row }: MatrixOperation,
  own: Resources,
  instead: Readonly<Record<string, string>> = {},
): MatrixRequest {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const kind = row.path?.[name]
    if (!kind) throw new Error(`the table does not say what {${name}} of ${path} names`)
    return encodeURIComponent(instead[name] ?? own[kind])
  })
  return { method, path: filled, query: row.query?.(own) ?? {}, body: row.body?.(own) }
}

/** The last parameter of the path with an identifier that is nobody's; undefined: the path names nothing. */
export function unknownPath({ row }: MatrixOperation): Readonly<Record<string, string>> | undefined {
  const last = Object.entries(row.path ?? {}).at(-1) as readonly [string, ResourceKind] | undefined
  return last && { [last[0]]: unknownIds[last[1]] }
}
