import { createHash } from 'node:crypto'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}'

/** Nothing is loaded, no script runs, no other site may frame it; the one form posts back here. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

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
  return new Response(
    `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style></head>
<body><h1>${title}</h1>
${body}
</body></html>
`,
    {
      status,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
      },
    },
  )
}
