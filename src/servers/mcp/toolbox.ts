import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { Caller } from '../../api/caller.ts'
import type { JsonSchema } from '../../api/json-schema.ts'
import type { Operation } from '../../api/operations.ts'
import { type ArgumentPlaces, toolInput, toolOutput } from './tool-schemas.ts'
import { type ToolEntry, toolEntries } from './tools.ts'

/** A tool with the operation that it is. */
export interface Tool {
  readonly entry: ToolEntry
  readonly operation: Operation
  readonly input: { readonly schema: JsonSchema; readonly places: ArgumentPlaces }
  readonly takesIdempotencyKey: boolean
  readonly listed: ListedTool
}

/** The tools by name. @throws when a tool's operation is not among these. */
export function openToolbox(operations: readonly Operation[]): ReadonlyMap<string, Tool> {
  const byName = new Map(operations.map(each => [`${each.method} ${each.path}`, each]))
  return new Map(
    toolEntries.map(entry => {
      const operation = byName.get(entry.operation)
      if (!operation) throw new Error(`the tool ${entry.name} stands for ${entry.operation}, which no route has`)
      return [entry.name, toolOf(entry, operation)]
    }),
  )
}

function toolOf(entry: ToolEntry, operation: Operation): Tool {
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
      openWorldHint: operation.need.scopes.includes('email:send'),
    },
  }
  return { entry, operation, input, takesIdempotencyKey: operation.method !== 'GET', listed }
}

/** May the key do what the tool does? What it may not is not shown to it. */
export function mayCall({ operation: { need } }: Tool, caller: Caller): boolean {
  return need.scopes.every(scope => caller.scopes.has(scope)) && !(need.organizationOnly && caller.brandId !== null)
}
