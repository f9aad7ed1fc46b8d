import { createHash } from 'node:crypto'

/**
 * Shows the HTML that the editor posts to the frame. Nothing that it holds can run or load anything: its own scripts and
 * handlers are not the one script that the policy names, the document has an origin of its own, and pictures must be `data:`.
 */
const script = `
addEventListener('message', event => {
  if (event.source !== parent || typeof event.data !== 'string') return
  const shown = new DOMParser().parseFromString(event.data, 'text/html')
  document.documentElement.replaceWith(document.adoptNode(shown.documentElement))
})
parent.postMessage('ready', '*')
`

const policy = [
  'sandbox allow-scripts',
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** The document of the frame in which the editor of templates shows what it renders, the same for every template. */
export function previewFrame(): Response {
  return new Response(`<!doctype html><meta charset="utf-8"><title>Preview</title><script>${script}</script>`, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  })
}
