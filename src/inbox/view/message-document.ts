import { linkedText, withVisibleTargets } from './links.ts'

/** What a document shows of a message. */
export interface MessageDocument {
  /** Sanitized, with its pictures; null: the text is shown. */
  readonly html: string | null
  readonly text: string | null
  /** May pictures be fetched from other servers? */
  readonly allowsRemotePictures: boolean
  /** Sentences above the message, about what is not shown. */
  readonly notices: readonly string[]
}

/**
 * No rule of the message can hide where a link leads: ours are important, and its own cannot make boxes before or after.
 * A message that knows no dark mode is made for white paper.
 */
const style = `
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{margin:0;padding:16px;overflow-wrap:anywhere}
main.html{color-scheme:light;background:#fff;color:#111;padding:16px;margin:0 -16px -16px;min-height:calc(100vh - 32px)}
main.html:first-child{margin-top:-16px}
main.html.dark{color-scheme:light dark;background:Canvas;color:CanvasText}
main img{max-width:100%}
pre{font:inherit;white-space:pre-wrap;margin:0;unicode-bidi:plaintext}
.notice{border:1px solid GrayText;border-radius:6px;padding:8px 12px;margin:0 0 16px;font-size:13px}
a[href]:hover::after,a[href]:focus-visible::after{content:attr(title)!important;display:block!important;position:fixed!important;inset:auto 0 0 0!important;z-index:2147483647!important;padding:4px 8px!important;background:#1f2328!important;color:#fff!important;font:12px/1.4 ui-monospace,monospace!important;text-align:start!important;direction:ltr!important;overflow:hidden!important;text-overflow:ellipsis!important;white-space:nowrap!important;opacity:1!important;visibility:visible!important}
@media (hover:none){main.html a[data-host]::after{content:" [" attr(data-host) "]"!important;position:static!important;display:inline!important;background:none!important;color:inherit!important;font:12px/1.4 ui-monospace,monospace!important;opacity:1!important}}
`

/**
 * The message as a document of its own for a frame of ours. No script runs in it, it has no origin, and it fetches nothing,
 * but for pictures over https where they are allowed.
 */
export function messageResponse(message: MessageDocument): Response {
  const pictures = message.allowsRemotePictures ? 'data: https:' : 'data:'
  return new Response(render(message), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        `img-src ${pictures}`,
        "frame-ancestors 'self'",
        'sandbox allow-popups allow-popups-to-escape-sandbox',
      ].join('; '),
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
    },
  })
}

function render({ html, text, notices }: MessageDocument): string {
  const above = notices.map(notice => `<p class="notice" role="note">${Bun.escapeHTML(notice)}</p>`).join('')
  return `<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Message</title><style>${style}</style></head>
<body>${above}${html === null ? renderText(text) : renderHtml(html)}</body></html>
`
}

function renderHtml(html: string): string {
  const knowsDark = /prefers-color-scheme/i.test(html)
  return `<main class="html${knowsDark ? ' dark' : ''}" dir="auto">${withVisibleTargets(html)}</main>`
}

function renderText(text: string | null): string {
  return text === null || text.trim() === ''
    ? '<main><p>This message has no text.</p></main>'
    : `<main><pre dir="auto">${linkedText(text)}</pre></main>`
}
