import type { AcceptedEmail } from './accept/accepted-response.ts'
import { acceptanceRefusals } from './accept/checks.ts'
import { checkAndEnqueue, requireDiskSpace } from './accept/enqueue.ts'
import type { SendDeps } from './accept/open-sending.ts'
import { prepare, prepareRefusals, type SendRequest } from './prepare.ts'

/** The refusals of {@link send}. */
export const sendRefusals = [...prepareRefusals, ...acceptanceRefusals] as const

/**
 * Accepts an email for delivery: resolve → compose → check → enqueue. What it resolves to is committed; the relay delivers
 * it. The acceptance checks stand in accept/checks.ts. A message that a client has composed itself goes submission/submit.ts.
 * @throws Refusal for whatever keeps the email from being sent
 */
export async function send(request: SendRequest, deps: SendDeps): Promise<AcceptedEmail> {
  requireDiskSpace(deps)
  return await checkAndEnqueue(await prepare(request, deps), deps)
}
