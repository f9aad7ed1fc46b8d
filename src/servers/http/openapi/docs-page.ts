import { dirname, join } from 'node:path'
import { NotFoundError } from 'elysia'

/** Content-Security-Policy of the page: it loads from this server only, and has no inline script or style. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page that shows `/openapi.json` in Swagger UI. */
export const docsPage = {
  html: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Mailroom API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <script defer src="/docs/swagger-ui-bundle.js"></script>
    <script defer src="/docs/start.js"></script>
  </head>
  <body>
    <noscript>This page needs JavaScript; the OpenAPI document itself is at /openapi.json.</noscript>
    <main id="reference"></main>
  </body>
</html>
`,
  headers: {
    'content-type': 'text/html;charset=utf-8',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  },
} as const

/** Without the validator, which would send the document's address to a server of others. */
const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null })\n`

/** Media types by file name; no other file is served. */
const mediaTypes = {
  'swagger-ui.css': 'text/css;charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript;charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const

const folder = dirname(Bun.resolveSync('swagger-ui-dist/package.json', import.meta.dir))

/** A function that serves a file of the page. @throws NotFoundError */
export function openDocsAssets(): (name: string) => Promise<Response> {
  return async name => {
    if (name === 'start.js') return fileResponse(start, 'text/javascript;charset=utf-8')
    if (!isAsset(name)) throw new NotFoundError()
    // Its bytes, since Bun answers a Range with a part of a file.
    return fileResponse(await Bun.file(join(folder, name)).bytes(), mediaTypes[name])
  }
}

function isAsset(name: string): name is keyof typeof mediaTypes {
  return Object.hasOwn(mediaTypes, name)
}

function fileResponse(body: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(body, { headers: { 'content-type': type, 'x-content-type-options': 'nosniff' } })
}
