import type { SESv2Client } from '@aws-sdk/client-sesv2'

export interface SesClientOptions {
  readonly region: string
  /** URL of the SES API; undefined: that of the region. */
  readonly endpoint: string | undefined
  /** Connections at once. */
  readonly maxConnections: number
}

/** The client, and the module with its commands and errors. */
export interface LoadedSes {
  readonly client: SESv2Client
  readonly sdk: typeof import('@aws-sdk/client-sesv2')
}

export interface SesClient {
  (): Promise<LoadedSes>
  close(): Promise<void>
}

const connectTimeoutMs = 10_000

/**
 * The client takes 29 MB of memory and is loaded when it is first used. It makes each request once: by default the SDK
 * retries three times, also submissions that SES may have accepted.
 */
export function createSesClient({ region, endpoint, maxConnections }: SesClientOptions): SesClient {
  let loaded: Promise<LoadedSes> | undefined
  async function load(): Promise<LoadedSes> {
    const sdk = await import('@aws-sdk/client-sesv2')
    const client = new sdk.SESv2Client({
      region,
      maxAttempts: 1,
      requestHandler: { connectionTimeout: connectTimeoutMs, httpsAgent: { maxSockets: maxConnections } },
      ...(endpoint && { endpoint }),
    })
    return { client, sdk }
  }
  const open = () => {
    loaded ??= load()
    return loaded
  }
  return Object.assign(open, {
    async close() {
      if (loaded) (await loaded).client.destroy()
    },
  })
}
