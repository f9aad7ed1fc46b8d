import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { Caller } from '../../api/caller.ts'
import type { JsonSchema } from '../../api/json-schema.ts'
import type { Operation } from '../../api/operations.ts'
import { type ToolDefinition, toolDefinitions } from './tool-definitions.ts'
import { type ArgumentLocations, toolInput, toolOutput } from './tool-schemas.ts'

/** A tool with the operation that it is. */
export interface Tool {
  readonly definition: ToolDefinition
  readonly operation: Operation
  readonly input: { readonly schema: JsonSchema; readonly locations: ArgumentLocations }
  readonly acceptsIdempotencyKey: boolean
  readonly listing: ListedTool
}

/** The tools by name. @throws when a tool's operation is not among these. */
export function createTools(operations: readonly Operation[]): ReadonlyMap<string, Tool> {
  const byName = new Map(operations.map(operation => [`${operation.method} ${operation.path}`, operation]))
  return new Map(
    toolDefinitions.map(entry => {
      const operation = byName.get(entry.operation)
      if (!operation) throw new Error(`the tool ${entry.name} stands for ${entry.operation}, which no route has`)
      return [entry.name, toolOf(entry, operation)]
    }),
  )
}

function toolOf(entry: ToolDefinition, operation: Operation): Tool {
  const input = toolInput(entry, operation)
  const listed: ListedTool = {
    name: entry.name,
    title: entry.title,
    description: entry.description,
    inputSchema: input.schema as ListedTool['inputSchema'],
    outputSchema: toolOutput(entry, operation) as NonNullable<ListedTool['outputSchema']>,
    annotations: {
      title: entry.title,
      readOnlyHint: entry.effect === 'reads',
      destructiveHint: entry.effect === 'destroys',
      idempotentHint: entry.effect === 'reads',
      openWorldHint: operation.requirements.scopes.includes('email:send'),
    },
  }
  return { definition: entry, operation, input, acceptsIdempotencyKey: operation.method !== 'GET', listing: listed }
}

/** May the key do what the tool does? What it may not is not shown to it. */
export function mayCall({ operation: { requirements } }: Tool, caller: Caller): boolean {
  return (
    requirements.scopes.every(scope => caller.scopes.has(scope)) &&
    !(requirements.organizationOnly && caller.brandId !== null)
  )
}
