import { t } from 'elysia'
import { describeRoute } from '../../api/describe.ts'
import { requestContextOf } from '../../api/request-context.ts'
import { api } from '../../api/route.ts'
import type { ToolCallDeps } from './call-tool.ts'
import { hostCheck, hostRefusals } from './host-check.ts'
import { handleMessage } from './protocol.ts'
import type { Tool } from './tools.ts'

export interface McpDeps extends ToolCallDeps {
  /** Asked at the first call, when all routes are there. */
  readonly tools: () => ReadonlyMap<string, Tool>
  /** Host names of this Mailroom. */
  readonly names: readonly string[]
  /** Origins of web pages that may call. */
  readonly origins: readonly string[]
}

const message = t.Object({ jsonrpc: t.Literal('2.0') }, { additionalProperties: true })

/** The Model Context Protocol, Streamable HTTP without sessions: POST only. */
export function mcpRoutes({ tools, names, origins, ...use }: McpDeps) {
  const refuseForeign = hostCheck(names, origins)
  return api('mcp')
    .post(
      '/v1/mcp',
      async ({ request, body }) => {
        const refusal = refuseForeign(request.headers)
        if (refusal) throw refusal
        const asked = readMessage(body as unknown as Uint8Array)
        if ('fault' in asked) return protocolFault(asked.code, asked.fault)
        return handleMessage(request, asked.message, requestContextOf(request), { ...use, tools: tools() })
      },
      {
        detail: describeRoute(
          'mcp',
          'Speak the Model Context Protocol',
          hostRefusals,
          'One JSON-RPC message a request. Tools and their schemas: the method `tools/list`.',
        ),
        scope: { scope: [], idempotency: 'refused', body: 'bytes' },
        response: { 200: message, 202: t.Void(), 400: message },
      },
    )
    .get('/v1/mcp', methodNotAllowed)
    .delete('/v1/mcp', methodNotAllowed)
}

type MessageResult = { readonly message: unknown } | { readonly fault: string; readonly code: number }

/** JSON-RPC 2.0 section 5.1; batches were taken out of the protocol in its revision 2025-06-18. */
function readMessage(bytes: Uint8Array): MessageResult {
  try {
    const message: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? { message }
      : { code: -32600, fault: 'Invalid Request: send one JSON-RPC message, not a batch.' }
  } catch {
    return { code: -32700, fault: 'Parse error: the body is not JSON.' }
  }
}

function protocolFault(code: number, text: string, status = 400, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message: text } }, { status, headers })
}

function methodNotAllowed(): Response {
  return protocolFault(-32000, 'Method not allowed: send messages with POST.', 405, { allow: 'POST' })
}
