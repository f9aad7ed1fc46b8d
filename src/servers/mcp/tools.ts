import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { Caller } from '../../api/caller.ts'
import type { JsonSchema } from '../../api/json/schema.ts'
import type { Operation } from '../../api/operations.ts'
import { type ToolDefinition, toolDefinitions } from './tool-definitions.ts'
import { type ArgumentLocations, toolInput, toolOutput } from './tool-schemas.ts'

/** An MCP tool: an operation of the API. */
export interface Tool {
  readonly definition: ToolDefinition
  readonly operation: Operation
  readonly input: { readonly schema: JsonSchema; readonly locations: ArgumentLocations }
  readonly acceptsIdempotencyKey: boolean
  readonly listing: ListedTool
}

/** The tools by name. @throws when the operation of a tool is not among `operations`. */
export function createTools(operations: readonly Operation[]): ReadonlyMap<string, Tool> {
  const byName = new Map(operations.map(operation => [`${operation.method} ${operation.path}`, operation]))
  return new Map(
    toolDefinitions.map(definition => {
      const operation = byName.get(definition.operation)
      if (!operation)
        throw new Error(`the tool ${definition.name} needs the operation ${definition.operation}, which does not exist`)
      return [definition.name, toolOf(definition, operation)]
    }),
  )
}

function toolOf(definition: ToolDefinition, operation: Operation): Tool {
  const input = toolInput(definition, operation)
  const listing: ListedTool = {
    name: definition.name,
    title: definition.title,
    description: definition.description,
    inputSchema: input.schema as ListedTool['inputSchema'],
    outputSchema: toolOutput(definition, operation) as NonNullable<ListedTool['outputSchema']>,
    annotations: {
      title: definition.title,
      readOnlyHint: definition.effect === 'reads',
      destructiveHint: definition.effect === 'destroys',
      idempotentHint: definition.effect === 'reads',
      openWorldHint: operation.requirements.scopes.includes('email:send'),
    },
  }
  return { definition, operation, input, acceptsIdempotencyKey: operation.method !== 'GET', listing }
}

/** Whether the key may call the tool. `tools/list` omits the others. */
export function mayCall({ operation: { requirements } }: Tool, caller: Caller): boolean {
  return (
    requirements.scopes.every(scope => caller.scopes.has(scope)) &&
    !(requirements.organizationOnly && caller.brandId !== null)
  )
}
