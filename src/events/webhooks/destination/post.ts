import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIPv6 } from 'node:net'
import type { SecureContext } from 'node:tls'
import { type CheckedDestination, hostOf } from './destination.ts'

/** What a receiver responded. */
export interface PostResponse {
  readonly status: number
  /** The header Retry-After as it came; null: there is none. */
  readonly retryAfter: string | null
  /** The start of the body, as text. */
  readonly body: string
}

export interface PostRequest {
  readonly destination: CheckedDestination
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Ends the connection. */
  readonly signal: AbortSignal
  /** Which roots are trusted; undefined: the usual ones. */
  readonly tls: SecureContext | undefined
}

/** At most so much of a response is read: then the connection is closed. */
export const maxResponseBytes = 64 * 1024
/** So much of it is kept, in characters. */
const maxKeptLength = 1024

/**
 * Posts to the very address that was checked, with SNI and Host by name: no second look-up can lead elsewhere. Each request
 * has a connection of its own, and a redirect is a response like any other.
 * @throws what the network or TLS ran into, or the reason of `signal`
 */
export function post({ destination, headers, body, signal, tls }: PostRequest): Promise<PostResponse> {
  const { url, address } = destination
  const { promise, resolve, reject } = Promise.withResolvers<PostResponse>()
  const options = {
    method: 'POST',
    host: hostOf(url),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), 'accept-encoding': 'identity' },
    lookup: lookupOf(address),
    agent: false as const,
  }
  const request: ClientRequest =
    url.protocol === 'https:' ? requestHttps({ ...options, ...(tls && { secureContext: tls }) }) : requestHttp(options)
  const abort = () => {
    reject(signal.reason)
    request.destroy()
  }
  signal.addEventListener('abort', abort, { once: true })
  request.on('error', reject)
  request.on('response', response => {
    readStart(response).then(body => {
      resolve({ status: response.statusCode ?? 0, retryAfter: headerOf(response, 'retry-after'), body })
      request.destroy()
    }, reject)
  })
  if (signal.aborted) abort()
  else request.end(body)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}

/** A look-up that knows one address. */
function lookupOf(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4
  return (_host, options, callback) => {
    if (options.all) callback(null, [{ address, family }])
    else callback(null, address, family)
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

async function readStart(response: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response as AsyncIterable<Uint8Array>) {
    parts.push(part)
    bytes += part.byteLength
    if (bytes >= maxResponseBytes) break
  }
  return Buffer.concat(parts)
    .toString('utf8', 0, 4 * maxKeptLength)
    .slice(0, maxKeptLength)
    .toWellFormed()
}
