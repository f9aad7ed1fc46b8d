import { readBody } from '../../api/request-body.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { suppress } from './suppress.ts'
import type { SuppressionsDeps } from './suppressions.ts'
import { hashUnsubscribeToken } from './unsubscribe-link.ts'
import { selectUnsubscribeLink, type UnsubscribeLink } from './unsubscribe-table.ts'

const tokenForm = /^[\w-]{43}$/

/** The link with this token; undefined: there is none. */
export async function findUnsubscribeLink(db: Db, token: string): Promise<UnsubscribeLink | undefined> {
  return tokenForm.test(token) ? selectUnsubscribeLink(db, hashUnsubscribeToken(token)) : undefined
}

/** Suppresses the link's address from the brand's emails with an unsubscribe link. Doing it again changes nothing. */
export async function unsubscribe({ db, clock }: SuppressionsDeps, link: UnsubscribeLink): Promise<void> {
  const { organization_id, brand_id, email_id, email } = link
  await inTransaction(db, tx =>
    suppress(
      tx,
      {
        organizationId: organization_id,
        brandId: brand_id,
        email,
        reason: 'unsubscribe',
        sourceEmailId: email_id,
        evidence: 'List-Unsubscribe=One-Click',
      },
      clock.now(),
    ),
  )
}

/** Is the body the form `List-Unsubscribe=One-Click`, in either encoding? RFC 8058 §3.2. */
export async function isOneClickRequest(request: Request): Promise<boolean> {
  try {
    const form = await readBody(request, () => undefined)
    const headers = { 'content-type': request.headers.get('content-type') ?? '' }
    return (await new Response(form, { headers }).formData()).get('List-Unsubscribe') === 'One-Click'
  } catch {
    return false
  }
}
