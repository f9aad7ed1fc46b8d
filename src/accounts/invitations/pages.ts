import { htmlResponse } from '../../api/pages/html-page.ts'
import type { Refusal } from '../../base/refusal.ts'

/** Leads a browser to the page that accepts the invitation. Following the link changes nothing. */
export function toDashboard(token: string): Response {
  const location = `/app/invitation#${encodeURIComponent(token)}`
  return new Response(null, { status: 303, headers: { location, 'referrer-policy': 'no-referrer' } })
}

/** Says why not, in the words of the error. */
export function refusedInvitationPage({ status, message }: Refusal): Response {
  return htmlResponse({
    status,
    title: 'This invitation cannot be accepted',
    body: `<p>${Bun.escapeHTML(message)}</p>`,
  })
}
