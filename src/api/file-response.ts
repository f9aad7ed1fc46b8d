import type { OperationDescription } from './describe.ts'

/** Bytes that go to a client as a file. */
export interface FileDownload {
  readonly filename: string
  /** Of the bytes; null: not known before they are read. */
  readonly size: number | null
  readonly bytes: ReadableStream<Uint8Array>
  readonly contentType: 'application/octet-stream' | 'message/rfc822'
}

/** Always a download, never shown or guessed at by a browser. RFC 6266, RFC 8187. */
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

/** For a route's `detail`: that its answer is a file. */
export function describeFile(contentType: FileDownload['contentType']): {
  readonly responses: NonNullable<OperationDescription['responses']>
} {
  return {
    responses: {
      200: {
        description: 'The bytes, as a download.',
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

/** An ASCII name for old clients and the whole one for the others; no path, quote or control character in either. */
export function contentDisposition(filename: string): string {
  const safe = filename
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}/\\]/gu, '_')
    .replace(/^\.+/, '_')
  const ascii = safe.replace(/[^ -~]|["%;]/g, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*!]/g,
    value => `%${value.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
