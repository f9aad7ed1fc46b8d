import { MailroomConnectionError, MailroomError } from './errors.ts'
import type { BodyOf, Method, PathOf, PathParametersOf, QueryOf, ResultOf } from './operations.ts'
import type { CallOptions, MailroomOptions } from './options.ts'

/** What a call sends besides its method and path. */
export interface CallInput {
  /** For the names in braces in the path. */
  readonly path?: object
  readonly query?: object
  readonly body?: object
}

/** The input of an operation of the API. */
export interface InputOf<M extends Method, P extends PathOf<M>> extends CallInput {
  readonly path?: PathParametersOf<M, P> & object
  readonly query?: QueryOf<M, P> & object
  readonly body?: BodyOf<M, P> & object
}

const defaultRetries = 3
const defaultTimeoutMs = 30_000
const firstWaitMs = 500
const maxWaitMs = 8000
/** A server that asks for a longer wait than this gets no further attempt. */
const maxRetryAfterSeconds = 60

/** What changes something and refuses an Idempotency-Key: a stored answer would hold a secret, or a test be made once. */
export const pathsWithoutKey = [
  '/v1/invitations',
  '/v1/webhooks',
  '/v1/webhooks/{id}/rotate-secret',
  '/v1/webhooks/{id}/test',
]

/** Sends requests and reads their answers: with the key, an Idempotency-Key, a timeout, and further attempts. */
export class Api {
  private readonly options: MailroomOptions

  constructor(options: MailroomOptions) {
    this.options = options
  }

  /** @throws MailroomError, MailroomConnectionError, or the reason of the signal */
  async call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    input: InputOf<M, P> = {},
    options: CallOptions = {},
  ): Promise<ResultOf<M, P>> {
    return this.retrying(method, path, input, options, readResult) as Promise<ResultOf<M, P>>
  }

  /** The same for an operation whose answer is a file. */
  download(path: PathOf<'get'>, input: CallInput, options: CallOptions = {}): Promise<Blob> {
    return this.retrying('get', path, input, options, response => response.blob())
  }

  private async retrying<Result>(
    method: Method,
    path: string,
    input: CallInput,
    options: CallOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { maxRetries = this.options.maxRetries ?? defaultRetries, signal } = options
    const url = this.urlOf(path, input)
    const init = this.initOf(method, path, input, options)
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      try {
        return await this.attempt(url, init, options, read)
      } catch (error) {
        const waitMs = retryWaitMs(error, attempt, init.headers['idempotency-key'] !== undefined || method === 'get')
        if (waitMs === undefined || attempt >= maxRetries) throw error
        await sleep(waitMs, signal)
      }
    }
  }

  private urlOf(path: string, { path: parameters, query = {} }: CallInput): string {
    const values = parameters as Readonly<Record<string, string>> | undefined
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segment(values?.[name], name))
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, textOf(value))
    return `${this.options.url.replace(/\/+$/, '')}${filled}${search.size > 0 ? `?${search}` : ''}`
  }

  private initOf(method: Method, path: string, { body }: CallInput, { idempotencyKey }: CallOptions) {
    const takesKey = method !== 'get' && !pathsWithoutKey.includes(path)
    const headers: Record<string, string> = { authorization: `Bearer ${this.options.key}`, accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (takesKey) headers['idempotency-key'] = idempotencyKey ?? crypto.randomUUID()
    return {
      method: method.toUpperCase(),
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The key must not follow a redirect to another server; workers do not know `error`.
      redirect: 'manual' as const,
    }
  }

  private async attempt<Result>(
    url: string,
    init: RequestInit,
    { signal, timeoutMs = this.options.timeoutMs ?? defaultTimeoutMs }: CallOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(), timeoutMs)
    const abort = () => ending.abort()
    signal?.addEventListener('abort', abort)
    try {
      const { fetch = globalThis.fetch } = this.options
      const response = await fetch(url, { ...init, signal: ending.signal })
      if (!response.ok) throw new MailroomError(response, await jsonIn(response))
      return await read(response)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof MailroomError) throw error
      throw ending.signal.aborted
        ? new MailroomConnectionError(`Mailroom did not answer within ${timeoutMs} ms.`, true, error)
        : new MailroomConnectionError(`There was no answer from ${new URL(url).origin}.`, false, error)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** A segment of a path; `.` and `..` would name another path. */
function segment(value: string | undefined, name: string): string {
  if (value === undefined || value === '' || value === '.' || value === '..')
    throw new TypeError(`${name} is ${JSON.stringify(value)}, which names nothing`)
  return encodeURIComponent(value)
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

/** @throws MailroomError when it is no JSON */
async function readResult(response: Response): Promise<unknown> {
  const result = await jsonIn(response)
  if (result === undefined) throw new MailroomError(response, undefined)
  return result
}

/** undefined: the body is no JSON. */
async function jsonIn(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * How long to wait before the next attempt, in milliseconds; undefined: there is none.
 * @param isSafe may the request be repeated although it is not known whether the first one was processed?
 */
export function retryWaitMs(error: unknown, attempt: number, isSafe: boolean): number | undefined {
  const backoffMs = Math.min(maxWaitMs, firstWaitMs * 2 ** attempt) * (0.5 + Math.random() / 2)
  if (error instanceof MailroomConnectionError) return isSafe ? backoffMs : undefined
  if (!(error instanceof MailroomError)) return undefined
  const { status, retryAfter = 0 } = error
  // A request that came too early was not processed.
  if (status !== 429 && !(status >= 500 && isSafe)) return undefined
  return retryAfter > maxRetryAfterSeconds ? undefined : Math.max(retryAfter * 1000, backoffMs)
}

/** Rejects with the reason of the signal when that comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
