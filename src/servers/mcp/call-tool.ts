import type { CallToolResult } from '@modelcontextprotocol/server'
import { errorBody } from '../../api/error-body.ts'
import type { IdempotencyKeys } from '../../api/idempotency/idempotency-keys.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { type RequestContext, setRequestContext } from '../../api/request-context.ts'
import type { Log } from '../../base/observability/log.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'
import { classifyError } from '../http/error-classification.ts'
import { countRefusal } from '../http/response-metrics.ts'
import type { Tool } from './tools.ts'
import { fencedResult } from './untrusted-content.ts'

export interface ToolCallDeps {
  /** The routes. It rejects with what they throw. */
  readonly dispatch: (request: Request) => Response | Promise<Response>
  readonly idempotencyKeys: IdempotencyKeys
  readonly log: Log
}

/** Stores the result of a call for its idempotency key. */
type StoreResult = (status: number, result: unknown) => Promise<void>

export type ToolArguments = Readonly<Record<string, unknown>>

const maxAttachmentBytes = 4 * 1024 * 1024

/**
 * Calls a tool by a request to the route of its operation, which checks the scope and validates. A refusal becomes an error
 * result, from which the model can learn. Never rejects.
 */
export async function callTool(
  deps: ToolCallDeps,
  tool: Tool,
  args: ToolArguments,
  context: RequestContext,
): Promise<CallToolResult> {
  let storeResult: StoreResult = async () => undefined
  const call = async () => {
    const prepared = prepareCall(deps, tool, args, context)
    storeResult = prepared.storeResult
    const response = await deps.dispatch(prepared.request)
    const result = await readResult(response)
    await storeResult(response.status, result)
    return toToolResult(tool, result)
  }
  return tryCall(deps, tool.definition.name, context, call, refusal => storeResult(refusal.status, undefined))
}

/** Runs a tool. A refusal becomes an error result, from which the model can learn, after `onRefusal`. Never rejects. */
export async function tryCall(
  { log }: Pick<ToolCallDeps, 'log'>,
  tool: string,
  { requestId }: Pick<RequestContext, 'requestId'>,
  call: () => Promise<CallToolResult>,
  onRefusal: (refusal: Refusal) => Promise<void> = async () => undefined,
): Promise<CallToolResult> {
  try {
    return await call()
  } catch (error) {
    const { refusal, isServerFault } = classifyError(error)
    countRefusal(refusal.code)
    if (isServerFault) log.error({ request_id: requestId, tool, err: error }, 'tool call failed')
    await onRefusal(refusal)
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(errorBody(refusal)) }] }
  }
}

/** The request to the tool's route, authenticated as the call was, and the function that stores its result. */
function prepareCall(
  { idempotencyKeys, log }: ToolCallDeps,
  tool: Tool,
  args: ToolArguments,
  outerContext: RequestContext,
) {
  const { caller, requestId } = outerContext
  const { idempotency_key: key, ...rest } = tool.acceptsIdempotencyKey ? args : { ...args, idempotency_key: undefined }
  const request = requestFor(tool, tool.acceptsIdempotencyKey ? rest : args, key)
  let reservation: Reservation | undefined
  const context: RequestContext = {
    requestId,
    caller,
    currentCaller: () => outerContext.currentCaller(),
    setEmailId: id => outerContext.setEmailId(id),
    // The arguments came in the body of the MCP request, which has acquired its memory.
    reserveMemory: () => undefined,
    async reserveIdempotencyKey(name) {
      const body = new TextEncoder().encode(JSON.stringify(rest))
      const reserved = await idempotencyKeys.reserve(name, {
        caller,
        method: 'tools/call',
        target: tool.definition.name,
        body,
      })
      if (!('token' in reserved)) return reserved
      reservation = reserved
      return undefined
    },
    get reservation() {
      return reservation
    },
  }
  setRequestContext(request, context)
  return {
    request,
    async storeResult(status: number, result: unknown): Promise<void> {
      if (!reservation) return
      await idempotencyKeys
        .settle(reservation, status, async () => JSON.stringify(result))
        .catch((error: unknown) =>
          log.error(
            { err: error },
            'result of a tool call not stored for its idempotency key: a retry with the key may do the work again',
          ),
        )
    },
  }
}

function requestFor({ operation, input: { locations } }: Tool, args: ToolArguments, key: unknown): Request {
  let { path } = operation
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) {
    const pathParameter = locations.path.get(name)
    if (pathParameter !== undefined) path = path.replace(`:${pathParameter}`, encodeURIComponent(textOf(name, value)))
    else if (value === undefined) continue
    else if (locations.query.has(name) || !locations.hasBody) query.set(name, textOf(name, value))
    else body[name] = value
  }
  for (const name of locations.path.keys()) if (args[name] === undefined) throw missing(name)
  const headers = new Headers({ 'content-type': 'application/json' })
  if (key !== undefined) headers.set('idempotency-key', textOf('idempotency_key', key))
  const search = query.size > 0 ? `?${query}` : ''
  const bodyBytes = locations.hasBody ? new TextEncoder().encode(JSON.stringify(body)) : undefined
  if (bodyBytes) headers.set('content-length', String(bodyBytes.length))
  return new Request(`http://localhost${path}${search}`, {
    method: operation.method,
    headers,
    ...(bodyBytes ? { body: bodyBytes } : {}),
  })
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw refuse('invalid_request', { message: `\`${name}\` is not a string.`, param: name })
}

function missing(name: string) {
  return refuse('invalid_request', { message: `\`${name}\` is required.`, param: name })
}

async function readResult(response: Response): Promise<Readonly<Record<string, unknown>>> {
  if (response.headers.get('content-type')?.startsWith('application/json'))
    return (await response.json()) as Record<string, unknown>
  const size = Number(response.headers.get('content-length'))
  if (size > maxAttachmentBytes) {
    await response.body?.cancel()
    throw refuse('payload_too_large', {
      message: `The attachment has ${size} bytes, more than the ${maxAttachmentBytes} that a tool returns.`,
      resolution: 'Download it from GET /v1/inbox/{id}/attachments/{attachmentId}.',
    })
  }
  return { size, content_base64: Buffer.from(await response.arrayBuffer()).toString('base64') }
}

function toToolResult({ definition }: Tool, result: Readonly<Record<string, unknown>>): CallToolResult {
  if (!definition.returnsUntrustedText)
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result }
  return fencedResult(result, definition.trustedFields)
}
