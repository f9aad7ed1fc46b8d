import { t } from 'elysia'
import { describeRoute } from '../../api/describe.ts'
import { errorBody } from '../../api/error-body.ts'
import { api } from '../../api/route.ts'
import type { AcceptResult } from '../accept/accept.ts'
import { toJsonAccepted } from '../accept/accepted-response.ts'
import type { SendDeps } from '../accept/open-sending.ts'
import { batchRefusals, sendBatch } from './batch.ts'
import { parseBatch } from './parse-request.ts'
import {
  type BatchListResult,
  type BatchResult,
  batchListResultSchema,
  batchResultSchema,
  sendBatchSchema,
} from './schema.ts'

const description = `Each email has the fields of \`POST /v1/emails\`, and is accepted or refused by itself; 200 says nothing of either. What is accepted is committed together, so that one \`Idempotency-Key\` holds for all.

A list of emails alone is taken too, as Resend's SDKs send it: all of them are accepted or none, unless the header \`x-batch-validation\` is \`permissive\`.`

/** The route that sends several emails with one request. */
export function batchRoutes(deps: SendDeps) {
  return api('email-batches').post(
    '/v1/emails/batch',
    async ({ caller, body, reservation, request }) => {
      const { form, ...batch } = parseBatch(body, request.headers)
      const toBody = form === 'object' ? toJsonResult : toJsonListResult
      return toBody(await sendBatch({ sender: caller, reservation, toBody, ...batch }, deps))
    },
    {
      detail: describeRoute('sendBatch', 'Send several emails', batchRefusals, description),
      scope: 'email:send',
      body: sendBatchSchema,
      response: t.Union([batchResultSchema, batchListResultSchema]),
    },
  )
}

function toJsonResult(results: readonly AcceptResult[]): BatchResult {
  return {
    data: results.map((result, index) =>
      result.kind === 'accepted'
        ? { index, status: 'accepted', email: toJsonAccepted(result.accepted) }
        : { index, status: 'refused', error: errorBody(result.refusal).error },
    ),
  }
}

/** `errors` is there where an email was refused. */
function toJsonListResult(results: readonly AcceptResult[]): BatchListResult {
  const errors = results.flatMap((result, index) =>
    result.kind === 'refused' ? [{ index, message: result.refusal.message }] : [],
  )
  return {
    data: results.flatMap(result => (result.kind === 'accepted' ? [{ id: result.accepted.id }] : [])),
    ...(errors.length > 0 && { errors }),
  }
}
