import type { JsonSchema } from '../../../../src/api/json/schema.ts'
import { openApiDocument } from '../../../harness/openapi-document.ts'
import { type ResourceKind, type Resources, unknownIds } from './resources.ts'
import { type MatrixRow, rows } from './rows.ts'

/** An operation of the OpenAPI document, with its row of the matrix. */
export interface MatrixOperation {
  readonly id: string
  readonly method: string
  /** `/v1/brands/{id}` */
  readonly path: string
  readonly scopes: readonly string[]
  readonly organizationOnly: boolean
  readonly acceptsIdempotencyKey: boolean
  /** The schema of its body; undefined: it has no body. */
  readonly body: JsonSchema | undefined
  readonly queryNames: readonly string[]
  readonly row: MatrixRow
}

/** Operations of another protocol, which have tests of their own. */
const excluded = ['mcp']

const document = openApiDocument()

function resolve(schema: JsonSchema | undefined): JsonSchema | undefined {
  const ref = schema?.['$ref']
  return typeof ref === 'string' ? document.components.schemas[ref.split('/').at(-1) ?? ''] : schema
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: JsonSchema } }
}

/** The operations that only the document or only the matrix has. */
export const unmatched: string[] = []

/** All operations below /v1, in the order of the matrix. */
export const operations: readonly MatrixOperation[] = readOperations()

function readOperations(): readonly MatrixOperation[] {
  const found = new Map<string, MatrixOperation>()
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId: id, parameters, requestBody } = operation
      if (!path.startsWith('/v1/') || excluded.includes(id)) continue
      const row = rows[id]
      if (!row) {
        unmatched.push(id)
        continue
      }
      const declared = parameters as readonly { readonly in?: string; readonly name?: string; readonly $ref?: string }[]
      found.set(id, {
        id,
        method: method.toUpperCase(),
        path,
        scopes: operation['x-scopes'] ?? [],
        organizationOnly: operation['x-organization-only'] ?? false,
        acceptsIdempotencyKey: declared.some(parameter => parameter.$ref === '#/components/parameters/IdempotencyKey'),
        body: resolve((requestBody as Body | undefined)?.content['application/json'].schema),
        queryNames: declared.flatMap(parameter =>
          parameter.in === 'query' && parameter.name !== undefined ? [parameter.name] : [],
        ),
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

/** The valid request of an operation, with the path parameters of `instead` replaced. */
export function requestFor(
  { method, path, row }: MatrixOperation,
  own: Resources,
  instead: Readonly<Record<string, string>> = {},
): MatrixRequest {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const kind = row.path?.[name]
    if (!kind) throw new Error(`the matrix does not say what {${name}} of ${path} refers to`)
    return encodeURIComponent(instead[name] ?? own[kind])
  })
  return { method, path: filled, query: row.query?.(own) ?? {}, body: row.body?.(own) }
}

/** The last path parameter with an unknown identifier; undefined: the path has no parameter. */
export function unknownPath({ row }: MatrixOperation): Readonly<Record<string, string>> | undefined {
  const last = Object.entries(row.path ?? {}).at(-1) as readonly [string, ResourceKind] | undefined
  return last && { [last[0]]: unknownIds[last[1]] }
}
