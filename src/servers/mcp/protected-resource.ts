import { Elysia } from 'elysia'
import type { OperationDescription } from '../../api/describe.ts'
import { scopes } from '../../api/scope.ts'

/** RFC 9728 §3.1: the well-known path, and after it that of the resource. */
const metadataPath = '/.well-known/oauth-protected-resource'
export const mcpPath = '/v1/mcp'

/** Where a client that was refused by the MCP endpoint finds out how to ask for a key (RFC 9728 §5.1). */
export function resourceMetadataUrl(base: string): string {
  return `${base}${metadataPath}${mcpPath}`
}

/**
 * Tells MCP clients that this server takes API keys as bearer tokens, which scopes there are, and where a person reads how to get
 * one (RFC 9728; Model Context Protocol, Authorization). There is no authorization server that would issue keys by itself.
 * @param publicUrl without a final slash; undefined: as the client names the server
 */
export function protectedResourceRoutes(publicUrl: string | undefined) {
  const metadata = ({ request }: { readonly request: Request }) => {
    const base = publicUrl ?? new URL(request.url).origin
    return {
      resource: `${base}${mcpPath}`,
      resource_name: 'Mailroom',
      resource_documentation: `${base}/docs`,
      bearer_methods_supported: ['header'],
      scopes_supported: [...scopes],
    }
  }
  return new Elysia({ name: 'protected-resource' })
    .get(metadataPath, metadata, { detail: description })
    .get(`${metadataPath}${mcpPath}`, metadata)
}

const description: OperationDescription = {
  operationId: 'getProtectedResource',
  summary: 'Learn how to authenticate at the MCP endpoint',
  'x-refusals': [],
  responses: {
    200: {
      description: 'The metadata of the protected resource (RFC 9728).',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['resource', 'bearer_methods_supported', 'scopes_supported'],
            properties: {
              resource: { type: 'string', description: 'The URL of the MCP endpoint.' },
              resource_name: { type: 'string' },
              resource_documentation: { type: 'string' },
              bearer_methods_supported: { type: 'array', items: { type: 'string', const: 'header' } },
              scopes_supported: { type: 'array', items: { type: 'string' } },
            },
          },
        },
      },
    },
  },
}
