import http from 'node:http'
import { refuse } from '../../../base/refusal.ts'

/** The largest request line and header section that is accepted, in bytes: the default of Bun and Node. */
const maxBytes = 16 * 1024
/** Bun reads so much, in bytes, and answers what is larger itself: 431 without a body. */
const maxReadBytes = 128 * 1024

/** Lets Bun's servers read larger headers than are accepted, so that the refusal can have our error body. Before they start. */
export function readLargeHeaders(): void {
  // Bun's servers take their limit from here (bun --max-http-header-size); the types follow Node, where it is read-only.
  Object.assign(http, { maxHeaderSize: maxReadBytes })
}

/** @throws Refusal `invalid_request` past 16 KiB of request line and header fields */
export function requireSmallHeader({ url, headers }: Request): void {
  let bytes = url.length
  for (const [name, value] of headers) bytes += name.length + value.length + ': \r\n'.length
  if (bytes > maxBytes)
    throw refuse('invalid_request', {
      message: `The request line and the header fields have ${bytes} bytes; at most ${maxBytes} (16 KiB) are accepted.`,
    })
}
