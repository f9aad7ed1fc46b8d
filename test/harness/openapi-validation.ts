import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import type { OperationObject } from '../../src/servers/http/openapi/operation.ts'
import { openApiDocument } from './openapi-document.ts'

/** A response as a client got it. */
export interface ObservedResponse {
  readonly method: string
  /** With the query, if there is one. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

type Node = Readonly<Record<string, unknown>>

const documentId = 'https://mailroom.test/openapi.json'
/** Routes of the tests only. */
const testRoutes = /^\/v1\/(probe|nothing)\b/

/**
 * Validates a response against the OpenAPI document: status, required headers, media type, body. The code of an error has to
 * be one that the operation declares.
 * @throws Error with all violations
 */
export function validateResponse(response: ObservedResponse): void {
  const path = response.path.replace(/\?.*/s, '')
  if (testRoutes.test(path)) return
  const violations = violationsOf(response, path)
  if (violations.length > 0)
    throw new Error(
      `${response.method} ${response.path} responded ${response.status}, which does not match the OpenAPI document:\n${violations
        .map(fault => `  ${fault}`)
        .join('\n')}\n${response.text.slice(0, 2000)}`,
    )
}

/** Fetches and validates the response; of a body that is not JSON only the header. */
export async function fetchValidated(url: string, init: FetchInit = {}): Promise<Response> {
  const response = await fetch(url, init)
  const { status, headers } = response
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false
  const text = isJson ? await response.clone().text() : ''
  const { pathname, search } = new URL(url)
  validateResponse({ method: init.method ?? 'GET', path: pathname + search, status, headers, text })
  return response
}

type FetchInit = NonNullable<Parameters<typeof fetch>[1]>

function violationsOf(response: ObservedResponse, path: string): readonly string[] {
  const template = templateOf(path)
  const method = response.method === 'HEAD' ? 'get' : response.method.toLowerCase()
  const pointer = template === undefined ? undefined : ['paths', template, method]
  const operation = pointer && (at(pointer) as unknown as OperationObject | undefined)
  if (!pointer || !operation)
    return path.startsWith('/v1/') ? unknownOperationViolations(response, template !== undefined) : []
  const documented = resolved([...pointer, 'responses', String(response.status)])
  if (!documented) return [`no status ${response.status}, only ${Object.keys(operation.responses).join(', ')}`]
  return [...headerViolations(response, documented.pointer), ...bodyViolations(response, documented.pointer)]
}

/** A path or method without an operation responds 404, after authentication. */
function unknownOperationViolations(
  { method, status, headers, text }: ObservedResponse,
  isKnownPath: boolean,
): readonly string[] {
  if (status === 401 || status === 429 || status === 405) return []
  if (status !== 404) return [`no such operation`]
  if (isKnownPath && !headers.has('allow')) return ['no header Allow']
  if (method === 'HEAD') return []
  return validate(['components', 'schemas', 'Error'], JSON.parse(text))
}

function headerViolations({ headers }: ObservedResponse, pointer: readonly string[]): readonly string[] {
  const described = (at([...pointer, 'headers']) ?? {}) as Readonly<Record<string, Node>>
  return Object.keys(described).flatMap(name => {
    const header = resolved([...pointer, 'headers', name])
    if (!header) return [`header ${name} is not among the components`]
    const value = headers.get(name)
    const node = at(header.pointer) as { readonly required?: boolean; readonly schema: Node }
    if (value === null) return node.required ? [`no header ${name}`] : []
    const typed = node.schema['type'] === 'integer' ? Number(value) : value
    return validate([...header.pointer, 'schema'], typed).map(violation => `header ${name}: ${value}: ${violation}`)
  })
}

function bodyViolations({ method, headers, text }: ObservedResponse, pointer: readonly string[]): readonly string[] {
  const content = at([...pointer, 'content'])
  const type = headers.get('content-type')?.replace(/;.*/s, '') ?? ''
  if (!content) return text === '' ? [] : ['a body']
  if (!Object.hasOwn(content, type)) return [`Content-Type ${type}, not ${Object.keys(content).join(', ')}`]
  const media = content[type] as Node
  if (method === 'HEAD') return text === '' ? [] : ['a body on HEAD']
  if (!media['schema']) return []
  return validate([...pointer, 'content', type, 'schema'], type === 'application/json' ? JSON.parse(text) : text)
}

let loaded: {
  readonly document: OpenApiDocument
  readonly templates: readonly [string, RegExp][]
  readonly ajv: Ajv2020
}

function api() {
  loaded ??= load()
  return loaded
}

function load() {
  const document = openApiDocument()
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addSchema({ ...(withoutAdditionalProperties(document) as object), $id: documentId } as AnySchema)
  const templates = Object.keys(document.paths)
    // Literal segments match before parameters.
    .sort((one, other) => one.split('{').length - other.split('{').length)
    .map(template => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as [string, RegExp])
  return { document, templates, ajv }
}

/** The document without additional properties: responses have only documented ones, though clients should ignore others. */
function withoutAdditionalProperties(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutAdditionalProperties)
  if (typeof node !== 'object' || node === null) return node
  const { allOf, ...rest } = node as Record<string, unknown>
  const inner = Object.fromEntries(
    Object.entries(rest).map(([name, child]) => [name, withoutAdditionalProperties(child)]),
  )
  const isObject = rest['type'] === 'object' && rest['properties'] !== undefined
  return {
    ...(isObject ? { additionalProperties: false } : {}),
    ...inner,
    ...(allOf === undefined ? {} : { allOf }),
  }
}

function templateOf(path: string): string | undefined {
  return api().templates.find(([, pattern]) => pattern.test(path))?.[0]
}

function at(pointer: readonly string[]): Node | undefined {
  let node: unknown = api().document
  for (const part of pointer)
    node = typeof node === 'object' && node !== null ? (node as Record<string, unknown>)[part] : undefined
  return node as Node | undefined
}

/** The pointer after resolving a reference. */
function resolved(pointer: readonly string[]): { readonly pointer: readonly string[] } | undefined {
  const node = at(pointer)
  if (!node) return undefined
  const ref = node['$ref']
  return { pointer: typeof ref === 'string' ? ref.split('/').slice(1) : pointer }
}

const validators = new Map<string, ValidateFunction>()

function validate(pointer: readonly string[], value: unknown): readonly string[] {
  const path = pointer.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  let check = validators.get(path)
  if (!check) {
    check = api().ajv.compile({ $ref: `${documentId}#/${path}` })
    validators.set(path, check)
  }
  if (check(value)) return []
  return (check.errors ?? []).map(
    error => `${error.instancePath || 'it'} ${error.message} ${JSON.stringify(error.params)}`,
  )
}
