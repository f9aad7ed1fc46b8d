import { Elysia } from 'elysia'
import type { OperationDescription, ResponseDescription } from '../../../api/describe.ts'
import { docsPage, openDocsAssets } from './docs-page.ts'
import type { OpenApiDocument } from './document.ts'

const headers: ResponseDescription['headers'] = {
  ETag: { description: 'Changes with the content.', required: true, schema: { type: 'string' } },
}

const documentOperation: OperationDescription = {
  operationId: 'getDescription',
  summary: 'Get this OpenAPI document',
  'x-refusals': [],
  responses: {
    200: {
      description: 'The OpenAPI 3.1 document.',
      headers,
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    304: { description: 'Not modified: the ETag was in If-None-Match.', headers },
  },
}

/** `/openapi.json`, and `/docs` for people. The document is generated on the first request. */
export function openApiRoutes(createDocument: () => OpenApiDocument) {
  let json: string | undefined
  const files = openDocsAssets()
  return new Elysia({ name: 'openapi' })
    .get(
      '/openapi.json',
      ({ request }) => {
        json ??= JSON.stringify(createDocument())
        return withETag(request, json, { 'content-type': 'application/json;charset=utf-8' })
      },
      { detail: documentOperation },
    )
    .get('/docs', ({ request }) => withETag(request, docsPage.html, docsPage.headers))
    .get('/docs/:file', ({ params }) => files(params.file))
}

/** A response with an ETag, or 304 when the client has this version. RFC 9110 §13.1.2. */
function withETag(request: Request, body: string, headers: Readonly<Record<string, string>>): Response {
  const etag = `"${new Bun.CryptoHasher('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const cached = (request.headers.get('if-none-match') ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  const isCurrent = cached.includes(etag) || cached.includes('*')
  return new Response(isCurrent ? null : body, { status: isCurrent ? 304 : 200, headers: { ...headers, etag } })
}
