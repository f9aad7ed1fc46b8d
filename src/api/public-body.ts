import type { t } from 'elysia'
import { refuse } from '../base/refusal.ts'
import { bodyRefusals, readBody, readJson, requireJsonContentType } from './request-body.ts'
import { bodyValidator, type TypeBoxSchema } from './validation.ts'

/** The refusals of {@link publicBody} beyond `invalid_request`. */
export const publicBodyRefusals = [...bodyRefusals] as const

/**
 * For a route outside /v1, which `api` does not guard: a JSON body of at most `maxBytes`, checked as strictly as one of
 * /v1. It refuses with `payload_too_large`, `unsupported_media_type`, `invalid_json` or `invalid_request`.
 */
export function publicBody<Of extends ReturnType<typeof t.Object>>(schema: Of, maxBytes: number) {
  const check = bodyValidator(schema as unknown as TypeBoxSchema)
  return {
    // It is checked here, in full; Elysia keeps it for the types and the API's description.
    body: { ...schema, noValidate: true } as Of,
    async parse({ request }: { readonly request: Request }) {
      const bytes = await readBody(request, atMost(maxBytes))
      if (bytes.length > 0) requireJsonContentType(request.headers)
      return check(bytes.length > 0 ? readJson(bytes, true) : {})
    },
  }
}

/** Counts what is about to be read. */
function atMost(maxBytes: number): (bytes: number) => void {
  let read = 0
  return bytes => {
    read += bytes
    if (read > maxBytes)
      throw refuse('payload_too_large', { message: `The request body is larger than ${maxBytes} bytes.` })
  }
}
