import { htmlResponse } from '../../api/pages/html-page.ts'

/** The brand whose mail is unsubscribed from, and the recipient. */
interface Subscription {
  readonly brandName: string
  readonly email: string
}

/** Asks first: a GET may come from a link scanner (RFC 8058 §1). */
export function confirmPage({ brandName, email }: Subscription): Response {
  return page(
    200,
    'Unsubscribe',
    `<p>Should <b>${Bun.escapeHTML(brandName)}</b> stop sending such mail to <b>${Bun.escapeHTML(email)}</b>?</p>
<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`,
  )
}

export function donePage({ brandName, email }: Subscription): Response {
  return page(
    200,
    'Unsubscribed',
    `<p><b>${Bun.escapeHTML(brandName)}</b> sends no more such mail to <b>${Bun.escapeHTML(email)}</b>.</p>`,
  )
}

export function unknownPage(): Response {
  return page(404, 'Unknown link', '<p>This link is unknown or incomplete. Copy all of it from the message.</p>')
}

export function notOneClickPage(): Response {
  return page(400, 'Not unsubscribed', '<p>The request did not contain List-Unsubscribe=One-Click.</p>')
}

function page(status: number, title: string, body: string): Response {
  return htmlResponse({ status, title, body })
}
