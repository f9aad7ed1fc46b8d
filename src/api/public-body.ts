import type { t } from 'elysia'
import { refuse } from '../base/refusal.ts'
import { bodyRefusals, readBody, readJson, requireJsonContentType } from './request-body.ts'
import { bodyValidator, type TypeBoxSchema } from './validation.ts'

/** The refusals of {@link publicBody} beyond `invalid_request`. */
export const publicBodyRefusals = [...bodyRefusals] as const

/**
 * The `body` and `parse` hooks of a route outside /v1: a JSON body of at most `maxBytes`, validated as strictly as under
 * /v1. They refuse with `payload_too_large`, `unsupported_media_type`, `invalid_json` or `invalid_request`.
 */
export function publicBody<Of extends ReturnType<typeof t.Object>>(schema: Of, maxBytes: number) {
  const validate = bodyValidator(schema as unknown as TypeBoxSchema)
  return {
    // Validated in `parse`; Elysia keeps the schema for the types and the OpenAPI document.
    body: { ...schema, noValidate: true } as Of,
    async parse({ request }: { readonly request: Request }) {
      const bytes = await readBody(request, byteLimit(maxBytes))
      if (bytes.length > 0) requireJsonContentType(request.headers)
      return validate(bytes.length > 0 ? readJson(bytes, true) : {})
    },
  }
}

/** A function that counts bytes and throws past `maxBytes`. */
function byteLimit(maxBytes: number): (bytes: number) => void {
  let read = 0
  return bytes => {
    read += bytes
    if (read > maxBytes)
      throw refuse('payload_too_large', { message: `The request body is larger than ${maxBytes} bytes.` })
  }
}
