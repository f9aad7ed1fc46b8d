import { createHash } from 'node:crypto'

/** A small page for a person who followed a link. */
export interface HtmlPage {
  readonly status: number
  /** Text. */
  readonly title: string
  /** HTML, in which all that is not ours is escaped. */
  readonly body: string
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}button,input{font:inherit;padding:.5rem 1rem}label{display:block;margin:1rem 0}input{display:block;width:100%;box-sizing:border-box}'

/** Nothing is loaded, no script runs, no other site may frame it; forms post back here only. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page as a response. Its address may be a secret: it is given to no other site, and not indexed. */
export function htmlResponse({ status, title, body }: HtmlPage): Response {
  return new Response(
    `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${Bun.escapeHTML(title)}</title><style>${style}</style></head>
<body><h1>${Bun.escapeHTML(title)}</h1>
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
