import type { AnyElysia } from 'elysia'
import type { ResponseDescription } from '../../../api/describe.ts'
import type { JsonSchema } from '../../../api/json/schema.ts'
import { type OperationSpec, operationsOf, publicOperationsOf } from '../../../api/operations.ts'
import { version } from '../../../base/version.ts'
import { createComponentRegistry } from './components.ts'
import { createOperationObject, type OperationExample, type OperationObject } from './operation.ts'
import { errorSchema, responseHeaders } from './responses.ts'

/** The version of the interface, which changes only with the interface; the program has its own. SPEC section 9. */
const interfaceVersion = '1.0.0'

/** An OpenAPI 3.1 document. */
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

/**
 * The tags of operations, by the first segment of the path after /v1, in the order in which the document lists them: to send,
 * to receive, to set up.
 */
const tags: Readonly<Record<string, readonly [name: string, description: string]>> = {
  emails: ['Emails', 'Sending emails, and their delivery status.'],
  templates: ['Templates', 'Subjects and bodies with variables.'],
  drafts: ['Drafts', 'Unsent text messages.'],
  suppressions: ['Suppressions', 'Recipients that emails are no longer sent to.'],
  inbox: ['Inbox', 'Received messages.'],
  events: ['Events', 'What happened, in order: read, waited for, or streamed.'],
  mailboxes: ['Mailboxes', 'The addresses that receive mail.'],
  brands: ['Brands', 'Groups of domains, mailboxes, templates, members and keys.'],
  domains: ['Domains', 'The domains that send and receive, and their DNS records.'],
  members: ['Members', 'The people of the organization.'],
  invitations: ['Invitations', 'Invitations to become a member.'],
  webhooks: ['Webhooks', 'Events, delivered to an endpoint of your own, signed after Standard Webhooks.'],
  requests: ['Requests', 'The log of API requests.'],
  mcp: ['MCP', 'The API as tools for language models, over the Model Context Protocol.'],
}
const tagOrder = Object.values(tags).map(([name]) => name)

const publicTag = ['Service', 'Health of the server, and this description. No key is needed.'] as const

const introduction = `Sends transactional email through a provider, and receives email into mailboxes.

- Every request below \`/v1\` carries \`Authorization: Bearer <API key>\`. A key belongs to one organization, has scopes, and may be restricted to one brand.
- Bodies are JSON. In a request null means omitted, except on PATCH, where it clears a nullable field. Unknown properties and query parameters are refused.
- Times are ISO 8601 in UTC with six decimals. Identifiers are opaque.
- HEAD works wherever GET does. An unknown path or method is a 404 \`not_found\`; a final slash makes another path.
- A query parameter is given once.
- POST, PATCH and DELETE accept an \`Idempotency-Key\`: for 24 hours the same request with the same key is processed once and gets the same response.
- Every error has the same body. \`error.code\` is for programs, \`error.requirement\` says what must change.`

/** Where the document lists a tag: those of the server itself last. */
function positionOf(tag: string): number {
  return tagOrder.includes(tag) ? tagOrder.indexOf(tag) : tagOrder.length
}

/**
 * The OpenAPI document of these routes, generated from their schemas, requirements and descriptions.
 * @param examples by operationId
 * @throws when a route below /v1 has no description or no response schema
 */
export function createOpenApiDocument(
  app: AnyElysia,
  examples: Readonly<Record<string, OperationExample>>,
): OpenApiDocument {
  const components = createComponentRegistry()
  const paths: Record<string, Record<string, OperationObject>> = {}
  const usedTags = new Map<string, string>()
  const addOperation = ({ method, path }: OperationSpec, object: OperationObject) => {
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: object }
  }
  for (const operation of operationsOf(app)) {
    const section = operation.path.split('/')[2] ?? ''
    const [name, description] = tags[section] ?? [section, '']
    usedTags.set(name, description)
    addOperation(
      operation,
      createOperationObject(operation, name, components, examples[operation.description.operationId]),
    )
  }
  for (const operation of publicOperationsOf(app)) {
    usedTags.set(...publicTag)
    addOperation(operation, createOperationObject(operation, publicTag[0], components, undefined))
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailroom',
      version: interfaceVersion,
      'x-mailroom-version': version,
      summary: 'Send and receive email.',
      description: introduction,
      contact: { name: 'The operator of this server' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    security: [{ apiKey: [] }],
    tags: [...usedTags]
      .map(([name, description]) => ({ name, description }))
      .sort((one, other) => positionOf(one.name) - positionOf(other.name)),
    paths,
    components: {
      schemas: { Error: errorSchema, ...components.schemas },
      responses: components.responses,
      headers: responseHeaders,
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description: 'For 24 hours the same request with the same key is processed once and gets the same response.',
          schema: { type: 'string', minLength: 8, maxLength: 255 },
        },
      },
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `mrk_…`.' } },
    },
  }
}
