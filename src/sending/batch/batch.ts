import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { bodyValidator, type TypeBoxSchema } from '../../api/validation.ts'
import type { Db } from '../../base/database/database.ts'
import { Refusal } from '../../base/refusal.ts'
import type { AcceptResult } from '../accept/accept.ts'
import type { SendCandidate } from '../accept/candidate.ts'
import { checkAndEnqueueTogether, requireDiskSpace, stage } from '../accept/enqueue.ts'
import type { SendDeps } from '../accept/open-sending.ts'
import type { AuthorizedSender } from '../accept/sender.ts'
import { type SendEmail, sendEmailSchema } from '../emails/schema.ts'
import { prepare } from '../prepare.ts'
import { sendRefusals } from '../send.ts'

/**
 * What a refused email means for the others: `continue`: nothing; `stop`: those behind it are left out; `all-or-none`: none
 * is accepted.
 */
export type BatchPolicy = 'continue' | 'stop' | 'all-or-none'

/** Several emails to be sent with one request. */
export interface EmailBatch {
  readonly sender: AuthorizedSender
  /** As the request has them, each still to be validated. */
  readonly emails: readonly object[]
  readonly policy: BatchPolicy
  readonly reservation: Reservation | undefined
  /** The response's body, which is stored for repetitions of the request. */
  readonly toBody: (results: readonly AcceptResult[]) => object
  /** How a refusal names the list of emails: its `param` is `emails[2].to` where this is `emails`. */
  readonly listName: string
}

/** The refusals of {@link sendBatch}. */
export const batchRefusals = sendRefusals

/** So many emails are composed before other requests get their turn. */
const preparedAtOnce = 25

/** Larger messages are stored before: those of a whole batch share the accepting transaction. In bytes. */
const maxUnstaged = 16 * 1024

/**
 * Accepts the emails of one request: each is prepared as a single one is, and all that pass the checks are committed together,
 * with the response for repetitions of the request. So a retry with the same Idempotency-Key sends none of them twice,
 * whenever the process died. Resolves to one result for each email, in their order; with the policy `stop` the first refused
 * email is the last.
 * @throws Refusal that concerns the request as a whole; with `all-or-none`, that of the first refused email
 */
export async function sendBatch(batch: EmailBatch, deps: SendDeps): Promise<readonly AcceptResult[]> {
  requireDiskSpace(deps)
  return await acceptPrepared(batch, await prepareAll(batch, deps), deps)
}

/** An email that can be accepted, or why it is refused before the accepting transaction. */
type PreparedEmail =
  | { readonly kind: 'candidate'; readonly candidate: SendCandidate }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Prepares the emails in groups; none behind the first refused one, where that ends the batch. */
async function prepareAll(batch: EmailBatch, deps: SendDeps): Promise<readonly PreparedEmail[]> {
  const prepared: PreparedEmail[] = []
  for (let start = 0; start < batch.emails.length; start += preparedAtOnce) {
    const group = batch.emails.slice(start, start + preparedAtOnce)
    prepared.push(...(await Promise.all(group.map((email, i) => prepareOne(batch, email, start + i, deps)))))
    const end = endOfBatch(batch.policy, prepared)
    if (end !== undefined) return prepared.slice(0, end)
    await Bun.sleep(0)
  }
  return prepared
}

const validateEmail = bodyValidator(sendEmailSchema as unknown as TypeBoxSchema)

async function prepareOne(
  { sender, listName }: EmailBatch,
  email: object,
  index: number,
  deps: SendDeps,
): Promise<PreparedEmail> {
  try {
    const fields = validateEmail(email) as SendEmail
    const prepared = await prepare({ sender, fields, quotaStatus: 422 }, deps)
    return { kind: 'candidate', candidate: await stage(prepared, maxUnstaged, deps) }
  } catch (error) {
    // What is our fault concerns the whole request, which may be tried again.
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    return { kind: 'refused', refusal: refusalAt(error, listName, index) }
  }
}

/** Runs the accepting transaction; with `stop` again, without what is behind an email that it turned out to refuse. */
async function acceptPrepared(
  batch: EmailBatch,
  prepared: readonly PreparedEmail[],
  deps: SendDeps,
): Promise<readonly AcceptResult[]> {
  if (batch.policy === 'all-or-none') throwFirst(prepared, batch.listName)
  for (let included = prepared; ; ) {
    const candidates = included.flatMap(email => (email.kind === 'candidate' ? [email.candidate] : []))
    let results: readonly AcceptResult[] = []
    try {
      const conclude = async (tx: Db, ofCandidates: readonly AcceptResult[]) => {
        results = inRequestOrder(included, ofCandidates, batch.listName)
        if (batch.policy === 'all-or-none') throwFirst(results, batch.listName)
        const end = endOfBatch(batch.policy, results)
        if (end !== undefined && results.slice(end).some(({ kind }) => kind === 'accepted'))
          throw new BatchStoppedError(end)
        await storeResponse(tx, batch.reservation, { status: 200, body: batch.toBody(results.slice(0, end)) })
      }
      await checkAndEnqueueTogether(candidates, conclude, deps)
      return results.slice(0, endOfBatch(batch.policy, results))
    } catch (error) {
      if (!(error instanceof BatchStoppedError)) throw error
      included = included.slice(0, error.end)
    }
  }
}

/** An email was refused in the transaction that accepted others behind it: it is rolled back. */
class BatchStoppedError extends Error {
  override readonly name = 'BatchStoppedError'
  /** How many emails are left, the refused one included. */
  readonly end: number
  constructor(end: number) {
    super('an email of the batch was refused')
    this.end = end
  }
}

/** How many emails the batch has up to its first refused one, where that ends it; undefined: it goes on to its end. */
function endOfBatch(policy: BatchPolicy, emails: readonly { readonly kind: string }[]): number | undefined {
  const index = policy === 'continue' ? -1 : emails.findIndex(({ kind }) => kind === 'refused')
  return index === -1 ? undefined : index + 1
}

/** The result of each prepared email: where it was a candidate, the next of these. */
function inRequestOrder(
  prepared: readonly PreparedEmail[],
  ofCandidates: readonly AcceptResult[],
  listName: string,
): readonly AcceptResult[] {
  const next = ofCandidates.values()
  return prepared.map((email, index) => {
    if (email.kind === 'refused') return email
    const result = next.next().value
    if (!result) throw new Error('an email of the batch has no result')
    return result.kind === 'refused' ? { ...result, refusal: refusalAt(result.refusal, listName, index) } : result
  })
}

/** The refusal of the email at `index`, its `param` a path from the body of the request. */
function refusalAt({ code, detail }: Refusal, listName: string, index: number): Refusal {
  const { param } = detail
  return new Refusal(code, { ...detail, param: `${listName}[${index}]${param === undefined ? '' : `.${param}`}` })
}

/** Throws the refusal of the first refused email, which then is that of the request: its message names the email. */
function throwFirst(emails: readonly (PreparedEmail | AcceptResult)[], listName: string): void {
  for (const [index, email] of emails.entries())
    if (email.kind === 'refused') {
      const { code, detail } = email.refusal
      throw new Refusal(code, { ...detail, message: `${listName}[${index}]: ${detail.message}` })
    }
}
