import { t } from 'elysia'
import { describeRoute } from '../../api/describe.ts'
import { requestContextOf } from '../../api/request-context.ts'
import { api } from '../../api/route.ts'
import type { ToolCallDeps } from './call-tool.ts'
import { hostCheck, hostRefusals } from './host-check.ts'
import { mcpPath } from './protected-resource.ts'
import type { Tool } from './tools.ts'

export interface McpDeps extends ToolCallDeps {
  /** Called at the first request, when all routes are registered. */
  readonly tools: () => ReadonlyMap<string, Tool>
  /** Host names of this server. */
  readonly names: readonly string[]
  /** Further origins whose web pages may call. */
  readonly origins: readonly string[]
}

const messageSchema = t.Object({ jsonrpc: t.Literal('2.0') }, { additionalProperties: true })

/** The Model Context Protocol, Streamable HTTP without sessions: POST only. */
export function mcpRoutes({ tools, names, origins, ...deps }: McpDeps) {
  const checkHost = hostCheck(names, origins)
  return api('mcp')
    .post(
      mcpPath,
      async ({ request, body }) => {
        const refusal = checkHost(request.headers)
        if (refusal) throw refusal
        const result = parseMessage(body as unknown as Uint8Array)
        if ('error' in result) return protocolError(result.code, result.error)
        // The library takes 0.15 s to load, so it is loaded with the first message.
        const { handleMessage } = await import('./protocol.ts')
        return handleMessage(request, result.message, requestContextOf(request), { ...deps, tools: tools() })
      },
      {
        detail: describeRoute(
          'mcp',
          'Send a Model Context Protocol message',
          hostRefusals,
          'One JSON-RPC message per request. The method `tools/list` lists the tools with their schemas.',
        ),
        scope: { scope: [], idempotency: 'refused', body: 'bytes' },
        response: { 200: messageSchema, 202: t.Void(), 400: messageSchema },
      },
    )
    .get(mcpPath, methodNotAllowed)
    .delete(mcpPath, methodNotAllowed)
}

type MessageResult = { readonly message: unknown } | { readonly error: string; readonly code: number }

/** JSON-RPC 2.0 section 5.1. Revision 2025-06-18 of the protocol removed batches. */
function parseMessage(bytes: Uint8Array): MessageResult {
  try {
    const message: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? { message }
      : { code: -32600, error: 'Invalid Request: send one JSON-RPC message, not a batch.' }
  } catch {
    return { code: -32700, error: 'Parse error: the body is not JSON.' }
  }
}

function protocolError(code: number, text: string, status = 400, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message: text } }, { status, headers })
}

function methodNotAllowed(): Response {
  return protocolError(-32000, 'Method not allowed: send messages with POST.', 405, { allow: 'POST' })
}
