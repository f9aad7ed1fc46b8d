import type { SESv2Client } from '@aws-sdk/client-sesv2'

export interface SesClientOptions {
  readonly region: string
  /** Where SES is reached, if not where the region has it. */
  readonly endpoint: string | undefined
  /** At once. */
  readonly maxConnections: number
}

/** The client and the commands that it takes. */
export interface LoadedSes {
  readonly client: SESv2Client
  readonly sdk: typeof import('@aws-sdk/client-sesv2')
}

export interface SesClient {
  (): Promise<LoadedSes>
  close(): Promise<void>
}

const connectMs = 10_000

/**
 * The client takes 29 MB and is loaded when it is first used. It repeats nothing of itself: what is tried again, and when, is
 * for its users to say.
 */
export function createSesClient({ region, endpoint, maxConnections }: SesClientOptions): SesClient {
  let opened: Promise<LoadedSes> | undefined
  async function load(): Promise<LoadedSes> {
    const sdk = await import('@aws-sdk/client-sesv2')
    const client = new sdk.SESv2Client({
      region,
      maxAttempts: 1,
      requestHandler: { connectionTimeout: connectMs, httpsAgent: { maxSockets: maxConnections } },
      ...(endpoint && { endpoint }),
    })
    return { client, sdk }
  }
  const open = () => {
    opened ??= load()
    return opened
  }
  return Object.assign(open, {
    async close() {
      if (opened) (await opened).client.destroy()
    },
  })
}
