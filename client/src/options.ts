/** How a client is opened. */
export interface MailroomOptions {
  /** Where Mailroom is, such as `https://mail.example.com`, without `/v1`. */
  readonly url: string
  /** The API key, `mrk_…`. Never put it into code that runs in a browser. */
  readonly key: string | undefined
  /** How often a request is tried again after a failure that may pass; 3 by default, 0 for never. */
  readonly maxRetries?: number
  /** How long an attempt may take until its response has arrived whole, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch
}

/** What a client needs of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What may be given with every call. */
export interface CallOptions {
  /** Ends the call, also while it waits for its next attempt: it then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** 8 to 255 characters, for calls that change something; by default each call gets a random one for all its attempts. */
  readonly idempotencyKey?: string
  readonly maxRetries?: number
  readonly timeoutMs?: number
}
