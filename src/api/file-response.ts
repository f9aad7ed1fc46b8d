import { type Instant, toIso } from '../base/clock.ts'
import { type Refusal, refuse } from '../base/refusal.ts'
import type { OperationDescription } from './describe.ts'

/** A file that a client downloads. */
export interface FileDownload {
  readonly filename: string
  /** In bytes; null: unknown before they are read. */
  readonly size: number | null
  readonly bytes: ReadableStream<Uint8Array>
  readonly contentType: 'application/octet-stream' | 'message/rfc822' | 'text/csv; charset=utf-8'
}

/** The response that a browser saves as a file, and never displays or sniffs (RFC 6266, RFC 8187). */
export function fileResponse({ filename, size, bytes, contentType }: FileDownload): Response {
  return new Response(bytes, {
    headers: {
      'Content-Type': contentType,
      'Content-Disposition': contentDisposition(filename),
      'X-Content-Type-Options': 'nosniff',
      ...(size === null ? {} : { 'Content-Length': String(size) }),
    },
  })
}

/** The bytes of a text that is made as they are read; a part that fails breaks the download off. */
export function streamText(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

/** The part of a route's `detail` that describes a download as its response. */
export function describeFile(contentType: FileDownload['contentType']): {
  readonly responses: NonNullable<OperationDescription['responses']>
} {
  return {
    responses: {
      200: {
        description: 'The file, as a download.',
        headers: {
          'Content-Disposition': { required: true, schema: { type: 'string', pattern: '^attachment' } },
          'Content-Length': { description: 'In bytes.', schema: { type: 'integer' } },
          'X-Content-Type-Options': { required: true, schema: { type: 'string', const: 'nosniff' } },
        },
        content: { [contentType]: {} },
      },
    },
  }
}

/** With an ASCII name for old clients and the full name for others; neither holds a path, quotes or control characters. */
export function contentDisposition(filename: string): string {
  const safe = filename
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}/\\]/gu, '_')
    .replace(/^\.+/, '_')
  const ascii = safe.replace(/[^ -~]|["%;]/g, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*!]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/** What {@link purgedRefusal} refuses with. */
export const purgedRefusals = ['not_found'] as const

/** The refusal of content that retention deleted at that time. */
export function purgedRefusal(what: string, at: Instant): Refusal {
  return refuse('not_found', { message: `${what} was deleted at ${toIso(at)}, at the end of its retention time.` })
}
