import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../src/servers/http/openapi/document.ts'
import type { OperationObject } from '../../src/servers/http/openapi/operation.ts'
import { openApiDocument } from './openapi-document.ts'

/** An answer of the HTTP door, as a client got it. */
export interface ObservedResponse {
  readonly method: string
  /** The query may follow. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

type Node = Readonly<Record<string, unknown>>

const documentId = 'https://mailroom.test/openapi.json'
/** Routes of the tests alone. */
const undescribed = /^\/v1\/(probe|nothing)\b/

/**
 * Looks whether the description of the API has this very answer: status, required headers, media type, body.
 * @throws Error that says what it has not
 */
export function validateResponse(answer: ObservedResponse): void {
  const path = answer.path.replace(/\?.*/s, '')
  if (undescribed.test(path)) return
  const faults = faultsOf(answer, path)
  if (faults.length > 0)
    throw new Error(
      `${answer.method} ${answer.path} answered ${answer.status}, which the description does not have so:\n${faults
        .map(fault => `  ${fault}`)
        .join('\n')}\n${answer.text.slice(0, 2000)}`,
    )
}

/** A request whose answer is {@link validateResponse}; of bytes only the header. */
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

function faultsOf(answer: ObservedResponse, path: string): readonly string[] {
  const template = templateOf(path)
  const method = answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase()
  const pointer = template === undefined ? undefined : ['paths', template, method]
  const operation = pointer && (at(pointer) as unknown as OperationObject | undefined)
  if (!pointer || !operation) return path.startsWith('/v1/') ? unknownFaults(answer, template !== undefined) : []
  const response = resolved([...pointer, 'responses', String(answer.status)])
  if (!response) return [`no status ${answer.status}, only ${Object.keys(operation.responses).join(', ')}`]
  return [...headerFaults(answer, response.pointer), ...bodyFaults(answer, response.pointer)]
}

/** What no operation has is 404, once the key has been looked at. */
function unknownFaults({ method, status, headers, text }: ObservedResponse, isKnownPath: boolean): readonly string[] {
  if (status === 401 || status === 429 || status === 405) return []
  if (status !== 404) return [`no such operation`]
  if (isKnownPath && !headers.has('allow')) return ['no header Allow']
  if (method === 'HEAD') return []
  return validate(['components', 'schemas', 'Error'], JSON.parse(text))
}

function headerFaults({ headers }: ObservedResponse, response: readonly string[]): readonly string[] {
  const described = (at([...response, 'headers']) ?? {}) as Readonly<Record<string, Node>>
  return Object.keys(described).flatMap(name => {
    const header = resolved([...response, 'headers', name])
    if (!header) return [`header ${name} is not among the components`]
    const value = headers.get(name)
    const node = at(header.pointer) as { readonly required?: boolean; readonly schema: Node }
    if (value === null) return node.required ? [`no header ${name}`] : []
    const typed = node.schema['type'] === 'integer' ? Number(value) : value
    return validate([...header.pointer, 'schema'], typed).map(each => `header ${name}: ${value}: ${each}`)
  })
}

function bodyFaults({ method, headers, text }: ObservedResponse, response: readonly string[]): readonly string[] {
  const content = at([...response, 'content'])
  const type = headers.get('content-type')?.replace(/;.*/s, '') ?? ''
  if (!content) return text === '' ? [] : ['a body']
  if (!Object.hasOwn(content, type)) return [`Content-Type ${type}, not ${Object.keys(content).join(', ')}`]
  const media = content[type] as Node
  if (method === 'HEAD') return text === '' ? [] : ['a body on HEAD']
  if (!media['schema']) return []
  return validate([...response, 'content', type, 'schema'], JSON.parse(text))
}

let made: { readonly document: OpenApiDocument; readonly templates: readonly [string, RegExp][]; readonly ajv: Ajv2020 }

function api() {
  made ??= open()
  return made
}

function open() {
  const document = openApiDocument()
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addSchema({ ...(closed(document) as object), $id: documentId } as AnySchema)
  const templates = Object.keys(document.paths)
    // What is written out goes before what stands for anything.
    .sort((one, other) => one.split('{').length - other.split('{').length)
    .map(template => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`)] as [string, RegExp])
  return { document, templates, ajv }
}

/** Answers hold nothing that the description does not name, though clients should bear it. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const { allOf, ...rest } = node as Record<string, unknown>
  const inner = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, closed(each)]))
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

/** Where it stands, after its reference. */
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
