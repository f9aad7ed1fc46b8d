import { APIConnectionError, APIError } from 'cloudflare/error'
import { BaseRecords } from 'cloudflare/resources/dns/records'
import { BaseZones } from 'cloudflare/resources/zones/zones'
import { createClient } from 'cloudflare/tree-shakable'
import { DnsZoneError } from '../port.ts'

export interface CloudflareAddress {
  readonly token: string
  /** Of the API; Cloudflare's own unless given. */
  readonly url?: string
}

/** Cloudflare's own client, cut down to what is used here. */
export type CloudflareClient = ReturnType<typeof openClient>

const requestMs = 10_000
const maxTries = 3
/** Waits that are longer are the caller's: an API client must not hang on Cloudflare's rate limit. */
const longestWaitMs = 2000

/** By itself it retries for as long as Retry-After says, and takes what is not given here from the environment. */
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

/** What to give for the API's error codes instead of an error; undefined: nothing. */
type ExpectedErrors<Answer> = (codes: readonly number[]) => Answer | undefined | Promise<Answer | undefined>

/** Reads, again after what may pass. @throws DnsZoneError */
export async function read<Answer>(ask: () => Promise<Answer>, unless?: ExpectedErrors<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      const waitMs = retryAfterMs(error) ?? 200 * 2 ** attempt * Math.random()
      if (attempt === maxTries || !mayPass(error) || waitMs > longestWaitMs) return insteadOf(error, unless)
      await Bun.sleep(waitMs)
    }
  }
}

/** Writes once: whether a write whose answer is lost is to be made again, its caller knows. @throws DnsZoneError */
export async function write<Answer>(ask: () => Promise<Answer>, unless: ExpectedErrors<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    return insteadOf(error, unless)
  }
}

async function insteadOf<Answer>(error: unknown, unless: ExpectedErrors<Answer> | undefined): Promise<Answer> {
  const instead = error instanceof APIError ? await unless?.(codesOf(error)) : undefined
  if (instead === undefined) throw troubleOf(error)
  return instead
}

function mayPass(error: unknown): boolean {
  return error instanceof APIError && (error.status === undefined || error.status === 429 || error.status >= 500)
}

function retryAfterMs(error: unknown): number | undefined {
  const header = error instanceof APIError ? error.headers?.get('retry-after') : undefined
  const seconds = header ? Number(header) : Number.NaN
  return seconds >= 0 ? seconds * 1000 : undefined
}

function codesOf({ errors }: APIError): readonly number[] {
  // Empty where the answer is not Cloudflare's JSON, whatever the type says.
  return ((errors as APIError['errors'] | undefined) ?? []).flatMap(error => error.code ?? [])
}

/** 6003: the token has the form of none; 9109 and 1000: it is none; 10000: it may not do this. */
const tokenCodes: readonly number[] = [1000, 6003, 9106, 9109, 10_000]

/** @returns what is not the provider's doing as it is */
function troubleOf(error: unknown): unknown {
  if (!(error instanceof APIError)) return error
  const codes = codesOf(error)
  const waitMs = retryAfterMs(error)
  const retryAfter = waitMs === undefined ? undefined : Math.max(1, Math.ceil(waitMs / 1000))
  const because = (message: string) => new DnsZoneError(message, retryAfter, { cause: error })
  if (error instanceof APIConnectionError || error.status === undefined) return because('Cloudflare does not answer.')
  const isOfToken = error.status === 401 || error.status === 403 || codes.some(code => tokenCodes.includes(code))
  if (isOfToken) return because(`Cloudflare does not let our API token do this (${codes[0] ?? error.status}).`)
  if (error.status === 429) return because('Cloudflare takes no more requests at the moment (429).')
  const [first] = (error.errors as APIError['errors'] | undefined) ?? []
  const saying = first?.message === undefined ? '' : `: ${first.message.slice(0, 200)} (${first.code})`
  return because(`Cloudflare answered ${error.status}${saying}`)
}
