import { Elysia } from 'elysia'
import type { OperationDescription, ResponseDescription } from '../../../api/describe.ts'
import { docsPage, openDocsAssets } from './docs-page.ts'
import type { OpenApiDocument } from './document.ts'

const headers: ResponseDescription['headers'] = {
  ETag: { description: 'Changes with the content.', required: true, schema: { type: 'string' } },
}

const saysDescription: OperationDescription = {
  operationId: 'getDescription',
  summary: 'Read this description',
  'x-refusals': [],
  responses: {
    200: { description: 'OpenAPI 3.1.', headers, content: { 'application/json': { schema: { type: 'object' } } } },
    304: { description: 'It is what the client has: its ETag was in If-None-Match.', headers },
  },
}

/** `/openapi.json` and `/docs`, where people read it. The document is made when it is first asked for. */
export function openApiRoutes(describe: () => OpenApiDocument) {
  let json: string | undefined
  const files = openDocsAssets()
  return new Elysia({ name: 'description' })
    .get(
      '/openapi.json',
      ({ request }) => {
        json ??= JSON.stringify(describe())
        return tagged(request, json, { 'content-type': 'application/json;charset=utf-8' })
      },
      { detail: saysDescription },
    )
    .get('/docs', ({ request }) => tagged(request, docsPage.html, docsPage.headers))
    .get('/docs/:file', ({ params }) => files(params.file))
}

/** The answer with an ETag, or 304 where that is what the client has. RFC 9110 §13.1.2. */
function tagged(request: Request, body: string, headers: Readonly<Record<string, string>>): Response {
  const etag = `"${new Bun.CryptoHasher('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const known = (request.headers.get('if-none-match') ?? '').split(',').map(value => value.trim().replace(/^W\//, ''))
  const isKnown = known.includes(etag) || known.includes('*')
  return new Response(isKnown ? null : body, { status: isKnown ? 304 : 200, headers: { ...headers, etag } })
}
