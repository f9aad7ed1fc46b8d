import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import type { Caller } from '../../api/caller.ts'

/** The one tool that is not an operation: it returns the organization and the rights of the key. */
export const whoamiTool: ListedTool = {
  name: 'whoami',
  title: 'Who am I?',
  description: 'Returns the organization and brand of the API key, and its scopes.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  outputSchema: {
    type: 'object',
    properties: {
      api_key_id: { type: 'string' },
      organization_id: { type: 'string' },
      brand_id: { type: ['string', 'null'], description: 'null: every brand of the organization.' },
      scopes: { type: 'array', items: { type: 'string' } },
    },
    required: ['api_key_id', 'organization_id', 'brand_id', 'scopes'],
  },
  annotations: { title: 'Who am I?', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
}

export function whoami(caller: Caller): CallToolResult {
  const result = {
    api_key_id: caller.keyId,
    organization_id: caller.organizationId,
    brand_id: caller.brandId,
    scopes: [...caller.scopes],
  }
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result }
}
