import type { AnyElysia } from 'elysia'
import type { ResponseDescription } from '../../../api/describe.ts'
import type { JsonSchema } from '../../../api/json-schema.ts'
import { type OperationSpec, operationsOf, publicOperationsOf } from '../../../api/operations.ts'
import { version } from '../../../base/version.ts'
import { createComponentRegistry } from './components.ts'
import { createOperationObject, type OperationExample, type OperationObject } from './operation.ts'
import { errorSchema, responseHeaders } from './responses.ts'

/** The interface described in OpenAPI 3.1. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly servers: readonly object[]
  readonly security: readonly object[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, ResponseDescription>>
    readonly headers: Readonly<Record<string, object>>
    readonly parameters: Readonly<Record<string, object>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
}

/** The sections, by the first part of the path after /v1. */
const tags: Readonly<Record<string, readonly [name: string, description: string]>> = {
  emails: ['Emails', 'Sending, and what became of what was sent.'],
  inbox: ['Inbox', 'Received messages.'],
  mailboxes: ['Mailboxes', 'The addresses that receive.'],
  domains: ['Domains', 'The domains that send and receive, and their DNS records.'],
  brands: ['Brands', 'What domains, mailboxes, templates, members and keys are grouped by.'],
  templates: ['Templates', 'Subjects and bodies with variables.'],
  drafts: ['Drafts', 'Text messages that are not sent yet.'],
  suppressions: ['Suppressions', 'Recipients that are not sent to.'],
  members: ['Members', 'The people of the organization.'],
  invitations: ['Invitations', 'Invitations to become a member.'],
  requests: ['Requests', 'What was asked of the API.'],
  mcp: ['MCP', 'The same for language models, by the Model Context Protocol.'],
}
const publicTag = ['Service', 'Of the server itself; needs no key.'] as const

const introduction = `Sends transactional email through a provider, and receives email into mailboxes.

- Every request below \`/v1\` carries \`Authorization: Bearer <API key>\`. A key belongs to one organization, has scopes, and may be restricted to one brand.
- Bodies are JSON. On input null equals omitted, except on PATCH, where it clears what may be null. Properties and query parameters that an operation does not know are refused.
- Times are ISO 8601 in UTC with six decimals. Identifiers are opaque.
- HEAD works wherever GET does. An unknown path or method is a 404 \`not_found\`.
- POST, PATCH and DELETE take an \`Idempotency-Key\`: for 24 hours the same request with the same key is done once and answered alike.
- Every error has the same body. \`error.code\` is for programs, \`error.requirement\` says what must change.`

/**
 * The description of these routes, made of what they themselves say.
 * @param examples by operationId
 * @throws when a route below /v1 does not say what it is or answers
 */
export function createOpenApiDocument(
  app: AnyElysia,
  examples: Readonly<Record<string, OperationExample>>,
): OpenApiDocument {
  const components = createComponentRegistry()
  const paths: Record<string, Record<string, OperationObject>> = {}
  const used = new Map<string, string>()
  const put = ({ method, path }: OperationSpec, described: OperationObject) => {
    const at = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[at] = { ...paths[at], [method.toLowerCase()]: described }
  }
  for (const operation of operationsOf(app)) {
    const section = operation.path.split('/')[2] ?? ''
    const [name, description] = tags[section] ?? [section, '']
    used.set(name, description)
    put(operation, createOperationObject(operation, name, components, examples[operation.description.operationId]))
  }
  for (const operation of publicOperationsOf(app)) {
    used.set(...publicTag)
    put(operation, createOperationObject(operation, publicTag[0], components, undefined))
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailroom',
      version,
      summary: 'Email out and in, for programs.',
      description: introduction,
      contact: { name: 'The operator of this server' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    security: [{ apiKey: [] }],
    tags: [...used].map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { Error: errorSchema, ...components.schemas },
      responses: components.responses,
      headers: responseHeaders,
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description: 'The same request with the same key is done once, and answered alike for 24 hours.',
          schema: { type: 'string', minLength: 8, maxLength: 255 },
        },
      },
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `mrk_…`.' } },
    },
  }
}
