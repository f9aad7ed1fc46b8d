import { APIConnectionError, APIError } from 'cloudflare/error'
import { BaseRecords } from 'cloudflare/resources/dns/records'
import { BaseZones } from 'cloudflare/resources/zones/zones'
import { createClient } from 'cloudflare/tree-shakable'
import { DnsZoneError } from '../port.ts'

export interface CloudflareAddress {
  readonly token: string
  /** Of the API; https://api.cloudflare.com/client/v4 unless given. */
  readonly url?: string
}

/** Cloudflare's own client, with only the resources that are used here. */
export type CloudflareClient = ReturnType<typeof openClient>

const requestMs = 10_000
const maxTries = 3
/** A longer wait is left to the caller: a request to our API must not hang on Cloudflare's rate limit. */
const maxWaitMs = 2000

/**
 * Left to its defaults the client retries for as long as Retry-After says, and reads each credential that is not given
 * from the environment.
 */
export function openClient({ token, url = 'https://api.cloudflare.com/client/v4' }: CloudflareAddress) {
  return createClient({
    resources: [BaseRecords, BaseZones],
    apiToken: token,
    apiKey: null,
    apiEmail: null,
    userServiceKey: null,
    baseURL: url,
    maxRetries: 0,
    timeout: requestMs,
    logLevel: 'off',
    fetch: (input, init) => fetch(input, { ...init, redirect: 'manual' }),
  })
}

/** The answer that stands for the API's error codes; undefined: they are an error. */
type ExpectedErrors<Answer> = (codes: readonly number[]) => Answer | undefined | Promise<Answer | undefined>

/** Makes a read request, and repeats it after errors that may be temporary. @throws DnsZoneError */
export async function read<Answer>(request: () => Promise<Answer>, expected?: ExpectedErrors<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request()
    } catch (error) {
      const waitMs = retryAfterMs(error) ?? 200 * 2 ** attempt * Math.random()
      if (attempt === maxTries || !isTemporary(error) || waitMs > maxWaitMs) return answerOrThrow(error, expected)
      await Bun.sleep(waitMs)
    }
  }
}

/** Makes a write request once: only its caller knows whether one whose response was lost may be repeated. @throws DnsZoneError */
export async function write<Answer>(request: () => Promise<Answer>, expected: ExpectedErrors<Answer>): Promise<Answer> {
  try {
    return await request()
  } catch (error) {
    return answerOrThrow(error, expected)
  }
}

async function answerOrThrow<Answer>(error: unknown, expected: ExpectedErrors<Answer> | undefined): Promise<Answer> {
  const answer = error instanceof APIError ? await expected?.(codesOf(error)) : undefined
  if (answer === undefined) throw toZoneError(error)
  return answer
}

function isTemporary(error: unknown): boolean {
  return error instanceof APIError && (error.status === undefined || error.status === 429 || error.status >= 500)
}

function retryAfterMs(error: unknown): number | undefined {
  const header = error instanceof APIError ? error.headers?.get('retry-after') : undefined
  const seconds = header ? Number(header) : Number.NaN
  return seconds >= 0 ? seconds * 1000 : undefined
}

function codesOf({ errors }: APIError): readonly number[] {
  // Absent when the response is not Cloudflare's JSON, whatever the type says.
  return ((errors as APIError['errors'] | undefined) ?? []).flatMap(error => error.code ?? [])
}

/** 6003: malformed token; 1000, 9106, 9109: unknown token; 10000: the token lacks the permission. */
const tokenCodes: readonly number[] = [1000, 6003, 9106, 9109, 10_000]

/** An error of the API as a {@link DnsZoneError}; any other error unchanged. */
function toZoneError(error: unknown): unknown {
  if (!(error instanceof APIError)) return error
  const codes = codesOf(error)
  const waitMs = retryAfterMs(error)
  const retryAfter = waitMs === undefined ? undefined : Math.max(1, Math.ceil(waitMs / 1000))
  const zoneError = (message: string) => new DnsZoneError(message, retryAfter, { cause: error })
  if (error instanceof APIConnectionError || error.status === undefined) return zoneError('Cloudflare did not respond.')
  const isTokenRefused = error.status === 401 || error.status === 403 || codes.some(code => tokenCodes.includes(code))
  if (isTokenRefused) return zoneError(`Cloudflare refused our API token (${codes[0] ?? error.status}).`)
  if (error.status === 429) return zoneError('Cloudflare is rate limiting our requests (429).')
  const [first] = (error.errors as APIError['errors'] | undefined) ?? []
  const detail = first?.message === undefined ? '' : `: ${first.message.slice(0, 200)} (${first.code})`
  return zoneError(`Cloudflare responded with status ${error.status}${detail}`)
}
