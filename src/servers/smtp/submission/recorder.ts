import type { RequestLog } from '../../../accounts/request-log/writer.ts'
import type { Caller } from '../../../api/caller.ts'
import { type Clock, instantAt, microsecondsOf } from '../../../base/clock.ts'
import { isId, newId } from '../../../base/ids.ts'
import type { Log } from '../../../base/observability/log.ts'
import { Refusal } from '../../../base/refusal.ts'
import { SmtpRefusal } from '../../../receiving/smtp-refusal.ts'

/** A submitted message, as far as the request log needs it. */
export interface SubmissionRequest {
  readonly caller: Caller
  readonly clientAddress: string
  /** The client's name in HELO or EHLO. */
  readonly helo: string
  /** When it began, on the clock of `performance.now()`. */
  readonly startedMs: number
}

/** Records submitted messages beside the requests of the API, each with the status that POST /v1/emails would have given. */
export interface SubmissionRecorder {
  accepted(request: SubmissionRequest, email: { readonly id: string; readonly isReplay: boolean }): void
  refused(request: SubmissionRequest, error: unknown): void
}

interface RecordedOutcome {
  readonly status: number
  readonly errorCode: string | null
  readonly emailId: string | null
  readonly isReplay: boolean
}

export function openSubmissionRecorder({
  requestLog,
  clock,
  log,
}: {
  readonly requestLog: RequestLog
  readonly clock: Clock
  readonly log: Log
}): SubmissionRecorder {
  function record(request: SubmissionRequest, { status, errorCode, emailId, isReplay }: RecordedOutcome): void {
    const { caller, clientAddress, helo, startedMs } = request
    if (caller.keyId === null) return
    const id = newId('req')
    const ms = performance.now() - startedMs
    requestLog.record({
      id,
      organization_id: caller.organizationId,
      created_at: instantAt(microsecondsOf(clock.now()) - Math.round(ms * 1000)),
      client_request_id: null,
      method: 'SMTP',
      path: 'submission',
      status,
      duration_ms: Math.round(ms),
      api_key_id: caller.keyId,
      brand_id: caller.brandId,
      ip: clientAddress.slice(0, 45),
      user_agent: helo === '' ? null : helo.replace(/[\p{Cc}\p{Cf}]/gu, ' ').slice(0, 255),
      error_code: errorCode,
      idempotent_replay: isReplay ? 1 : 0,
      email_id: emailId !== null && isId('eml', emailId) ? emailId : null,
    })
    log.info(
      {
        request_id: id,
        method: 'SMTP',
        status,
        duration_ms: Math.round(ms * 10) / 10,
        api_key_id: caller.keyId,
        email_id: emailId ?? undefined,
        error_code: errorCode ?? undefined,
        idempotent_replay: isReplay || undefined,
      },
      'submitted message answered',
    )
  }

  return {
    accepted: (request, { id, isReplay }) => record(request, { status: 202, errorCode: null, emailId: id, isReplay }),
    refused: (request, error) => record(request, { ...refusalOf(error), emailId: null, isReplay: false }),
  }
}

function refusalOf(error: unknown): Pick<RecordedOutcome, 'status' | 'errorCode'> {
  if (error instanceof Refusal) return { status: error.status, errorCode: error.code }
  if (error instanceof SmtpRefusal) return { status: error.reply.code < 500 ? 500 : 422, errorCode: error.code }
  return { status: 500, errorCode: 'internal_error' }
}
