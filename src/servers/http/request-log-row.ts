import type { RequestLogRow } from '../../accounts/request-log/table.ts'
import type { Caller } from '../../api/caller.ts'
import type { PendingRequest } from './pending-request.ts'

/** What the request log keeps of a request with a valid key: nothing of its query, its header or its bodies. */
export function requestLogRow(exchange: PendingRequest, caller: Caller, status: number): RequestLogRow {
  const { request } = exchange
  return {
    id: exchange.id,
    organization_id: caller.organizationId,
    created_at: exchange.receivedAt,
    client_request_id: clientRequestId(request),
    method: printable(request.method, 10),
    path: printable(withoutKeys(exchange.path), 512),
    status,
    duration_ms: Math.round(performance.now() - exchange.startedMs),
    api_key_id: caller.keyId,
    brand_id: caller.brandId,
    ip: (exchange.clientAddress ?? 'unknown').slice(0, 45),
    user_agent: printableOrNull(request.headers.get('user-agent'), 255),
    error_code: exchange.errorCode ?? null,
    idempotent_replay: exchange.replayedResponse ? 1 : 0,
    email_id: exchange.emailId ?? null,
  }
}

/** The id that the client gave its request; null where it gave none, or one of another form. */
export function clientRequestId(request: Request): string | null {
  const id = request.headers.get('x-request-id')
  return id !== null && /^[A-Za-z0-9._-]{1,128}$/.test(id) ? id : null
}

/** An API key that someone put into a path by mistake is not kept. */
function withoutKeys(path: string): string {
  return path.includes('mrk_') ? path.replaceAll(/mrk_[^/]*/g, 'mrk_…') : path
}

function printableOrNull(text: string | null, maxLength: number): string | null {
  return text === null ? null : printable(text, maxLength)
}

/** At most `maxLength` characters, and none that would move a cursor or hide what follows. */
function printable(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
}
