import { refuse } from '../../base/refusal.ts'
import type { BatchPolicy } from './batch.ts'
import type { SendBatch } from './schema.ts'

/** A request to send several emails. */
export interface ParsedBatch {
  /** `object`: Mailroom's own form; `list`: a list of emails alone, as Resend's API has it. */
  readonly form: 'object' | 'list'
  /** Each still to be validated. */
  readonly emails: readonly object[]
  readonly policy: BatchPolicy
  /** How a refusal names the emails of the request: `emails`, or nothing where the list is all there is. */
  readonly listName: string
}

/** The header with which Resend's SDKs ask that invalid emails be left out; they always send it with a list. */
const validationHeader = 'x-batch-validation'

/** @throws Refusal `invalid_request` for another value of the header than `strict` and `permissive` */
export function parseBatch(body: SendBatch, headers: Headers): ParsedBatch {
  if (!Array.isArray(body))
    return { form: 'object', emails: body.emails, policy: body.on_error ?? 'continue', listName: 'emails' }
  const validation = headers.get(validationHeader) ?? 'strict'
  if (validation !== 'strict' && validation !== 'permissive')
    throw refuse('invalid_request', {
      message: `The header ${validationHeader} is ${JSON.stringify(validation.slice(0, 60))}; expected strict or permissive.`,
      param: validationHeader,
    })
  return { form: 'list', emails: body, policy: validation === 'strict' ? 'all-or-none' : 'continue', listName: '' }
}
