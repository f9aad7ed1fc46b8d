import type { RequestLogRow } from '../../accounts/request-log/table.ts'
import type { Caller } from '../../api/caller.ts'
import type { Id } from '../../base/ids.ts'
import type { PendingRequest } from './pending-request.ts'

/** The row of the request log for a request with a valid key: without its query and its body. */
export function requestLogRow(
  pending: PendingRequest,
  caller: Caller & { readonly keyId: Id<'key'> },
  status: number,
): RequestLogRow {
  const { request } = pending
  return {
    id: pending.id,
    organization_id: caller.organizationId,
    created_at: pending.receivedAt,
    client_request_id: clientRequestId(request),
    method: printable(request.method, 10),
    path: printable(withoutKeys(pending.target.path), 512),
    status,
    duration_ms: Math.round(performance.now() - pending.startedMs),
    api_key_id: caller.keyId,
    brand_id: caller.brandId,
    ip: (pending.clientAddress ?? 'unknown').slice(0, 45),
    user_agent: printableOrNull(request.headers.get('user-agent'), 255),
    error_code: pending.errorCode ?? null,
    idempotent_replay: pending.replayedResponse ? 1 : 0,
    email_id: pending.emailId ?? null,
  }
}

/** The id that the client gave its request in X-Request-Id; null: it gave none, or an unusable one. */
export function clientRequestId(request: Request): string | null {
  const id = request.headers.get('x-request-id')
  return id !== null && /^[A-Za-z0-9._-]{1,128}$/.test(id) ? id : null
}

/** Redacts an API key that a client put into the path by mistake. */
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
