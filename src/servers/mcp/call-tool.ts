import type { CallToolResult } from '@modelcontextprotocol/server'
import { errorBody } from '../../api/error-body.ts'
import type { IdempotencyKeys } from '../../api/idempotency/idempotency-keys.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { type RequestContext, setRequestContext } from '../../api/request-context.ts'
import type { Log } from '../../base/observability/log.ts'
import { refuse } from '../../base/refusal.ts'
import { classifyError } from '../http/error-classification.ts'
import { countRefusal } from '../http/response-metrics.ts'
import type { Tool } from './tools.ts'
import { fenceUntrusted, newFence, untrustedWarning } from './untrusted-content.ts'

export interface ToolCallDeps {
  /** The routes. What they throw comes through. */
  readonly dispatch: (request: Request) => Response | Promise<Response>
  readonly idempotencyKeys: IdempotencyKeys
  readonly log: Log
}

/** Notes how a call ended for its idempotency key. */
type Finish = (status: number, answer: unknown) => Promise<void>

export type ToolArguments = Readonly<Record<string, unknown>>

const maxAttachmentBytes = 4 * 1024 * 1024

/**
 * Does what a tool does, through the route of its operation: with its checks, its scope, its refusals. A refusal is an
 * answer to the model, which may do better then. Never rejects.
 */
export async function callTool(
  deps: ToolCallDeps,
  tool: Tool,
  given: ToolArguments,
  admission: RequestContext,
): Promise<CallToolResult> {
  let finish: Finish = async () => undefined
  try {
    const opened = openCall(deps, tool, given, admission)
    finish = opened.finish
    const { request } = opened
    const response = await deps.dispatch(request)
    const answer = await readAnswer(response)
    await finish(response.status, answer)
    return show(tool, answer)
  } catch (error) {
    const { refusal, isServerFault } = classifyError(error)
    countRefusal(refusal.code)
    if (isServerFault)
      deps.log.error({ request_id: admission.requestId, tool: tool.definition.name, err: error }, 'tool call failed')
    await finish(refusal.status, undefined)
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(errorBody(refusal)) }] }
  }
}

/** The request that the tool stands for, let in as the call was; and what is to be done at its end. */
function openCall({ idempotencyKeys, log }: ToolCallDeps, tool: Tool, given: ToolArguments, outer: RequestContext) {
  const { caller, requestId } = outer
  const { idempotency_key: key, ...rest } = tool.acceptsIdempotencyKey
    ? given
    : { ...given, idempotency_key: undefined }
  const request = requestFor(tool, tool.acceptsIdempotencyKey ? rest : given, key)
  let reservation: Reservation | undefined
  const admission: RequestContext = {
    requestId,
    caller,
    setEmailId: id => outer.setEmailId(id),
    // It has its room already: it came in the body of the call.
    reserveMemory: () => undefined,
    async reserveIdempotencyKey(name) {
      const body = new TextEncoder().encode(JSON.stringify(rest))
      const taken = await idempotencyKeys.reserve(name, {
        caller,
        method: 'tools/call',
        target: tool.definition.name,
        body,
      })
      if (!('token' in taken)) return taken
      reservation = taken
      return undefined
    },
    get reservation() {
      return reservation
    },
  }
  setRequestContext(request, admission)
  return {
    request,
    async finish(status: number, answer: unknown): Promise<void> {
      if (!reservation) return
      await idempotencyKeys
        .settle(reservation, status, async () => JSON.stringify(answer))
        .catch((error: unknown) => log.error({ err: error }, 'the end of a tool call was not noted for its key'))
    },
  }
}

function requestFor({ operation, input: { locations } }: Tool, given: ToolArguments, key: unknown): Request {
  let { path } = operation
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const inPath = locations.path.get(name)
    if (inPath !== undefined) path = path.replace(`:${inPath}`, encodeURIComponent(textOf(name, value)))
    else if (value === undefined) continue
    else if (locations.query.has(name) || !locations.hasBody) query.set(name, textOf(name, value))
    else body[name] = value
  }
  for (const name of locations.path.keys()) if (given[name] === undefined) throw missing(name)
  const headers = new Headers({ 'content-type': 'application/json' })
  if (key !== undefined) headers.set('idempotency-key', textOf('idempotency_key', key))
  const search = query.size > 0 ? `?${query}` : ''
  const sent = locations.hasBody ? new TextEncoder().encode(JSON.stringify(body)) : undefined
  if (sent) headers.set('content-length', String(sent.length))
  return new Request(`http://localhost${path}${search}`, {
    method: operation.method,
    headers,
    ...(sent ? { body: sent } : {}),
  })
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw refuse('invalid_request', { message: `\`${name}\` is not a text.`, param: name })
}

function missing(name: string) {
  return refuse('invalid_request', { message: `\`${name}\` is required.`, param: name })
}

async function readAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  if (response.headers.get('content-type')?.startsWith('application/json'))
    return (await response.json()) as Record<string, unknown>
  const size = Number(response.headers.get('content-length'))
  if (size > maxAttachmentBytes) {
    await response.body?.cancel()
    throw refuse('payload_too_large', {
      message: `The attachment has ${size} bytes, more than the ${maxAttachmentBytes} that a tool gives.`,
      resolution: 'Download it from GET /v1/inbox/{id}/attachments/{attachmentId}.',
    })
  }
  return { size, content_base64: Buffer.from(await response.arrayBuffer()).toString('base64') }
}

function show({ definition }: Tool, answer: Readonly<Record<string, unknown>>): CallToolResult {
  if (!definition.returnsUntrustedText)
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer }
  const fence = newFence()
  const marked = {
    untrusted: true,
    fence,
    ...(fenceUntrusted(answer, fence, definition.trustedFields) as Record<string, unknown>),
  }
  const text = `${untrustedWarning(fence)}\n${JSON.stringify(marked)}`
  return { content: [{ type: 'text', text }], structuredContent: marked }
}
