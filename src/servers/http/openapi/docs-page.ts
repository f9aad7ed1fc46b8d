import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NotFoundError } from 'elysia'

/** What the page may load and do: what comes from here, and no script or style within the page. */
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

/** The page that shows `/openapi.json`, with Swagger UI. */
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
    <noscript>This page needs JavaScript; the description itself is /openapi.json.</noscript>
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

/** No validator: it would send the description's address to a server of others. */
const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null })\n`

/** By name; what is not here is not served. */
const types = {
  'swagger-ui.css': 'text/css;charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript;charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const

const folder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/** A function that answers with a file of the page. */
export function openDocsAssets(): (name: string) => Response {
  return name => {
    if (name === 'start.js') return served(start, 'text/javascript;charset=utf-8')
    if (!isFile(name)) throw new NotFoundError()
    return served(Bun.file(join(folder, name)), types[name])
  }
}

function isFile(name: string): name is keyof typeof types {
  return Object.hasOwn(types, name)
}

function served(body: string | Blob, type: string): Response {
  return new Response(body, { headers: { 'content-type': type, 'x-content-type-options': 'nosniff' } })
}
