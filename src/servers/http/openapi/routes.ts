import { Elysia } from 'elysia'
import type { OperationDescription, ResponseDescription } from '../../../api/describe.ts'
import { etagOf, isNotModified } from '../etag.ts'
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

/** A response with an ETag, or 304 when the client has this version. */
function withETag(request: Request, body: string, headers: Readonly<Record<string, string>>): Response {
  const etag = etagOf(body)
  const isCurrent = isNotModified(request, etag)
  return new Response(isCurrent ? null : body, { status: isCurrent ? 304 : 200, headers: { ...headers, etag } })
}
