import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import type { Client } from 'acme-client'

/** Issues certificates for names, once it has seen that they are ours. */
export interface CertificateAuthority {
  /** The URL of its directory. */
  readonly directory: string
  /** A fresh private key for an account, PEM. */
  newAccountKey(): Promise<string>
  /** @throws CertificateAuthorityError when it does not, or does not answer */
  issue(name: string, accountKey: string, challenges: ChallengeStore): Promise<IssuedCertificate>
}

export interface IssuedCertificate {
  /** PEM. */
  readonly chain: string
  readonly privateKey: string
}

/** What the authority is to find at the name while it looks (RFC 8555 §8.3). */
export interface ChallengeStore {
  put(token: string, keyAuthorization: string): Promise<void>
  remove(token: string): Promise<void>
}

/** The authority issued nothing; the message says why, for an operator. */
export class CertificateAuthorityError extends Error {
  override readonly name = 'CertificateAuthorityError'
  /** How long it asks us to wait, in milliseconds; 0: it does not say. */
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

export interface AcmeOptions {
  readonly directory: string
  readonly email: string | undefined
  /** File with the root certificate of the authority's own server; undefined: the usual roots. */
  readonly caFile: string | undefined
  /** How often it is asked whether it is done, at first, in milliseconds. */
  readonly pollIntervalMs?: number
}

const requestTimeoutMs = 30_000
const pollTimes = 15
const longestMessage = 500

/**
 * An authority that speaks ACME (RFC 8555), asked through acme-client. Its terms of service are accepted. Keys are on
 * P-256. The library is loaded with the first order: few processes need it.
 */
export function acmeAuthority({ directory, email, caFile, pollIntervalMs = 1000 }: AcmeOptions): CertificateAuthority {
  let waitMs = 0
  let accountUrl: string | undefined

  /**
   * The URL of the account, which is made if there is none. To ask for one that is there as for a new one is an empty
   * update to the library, which authorities refuse.
   */
  async function register(client: Client): Promise<string> {
    const isKnown = await client.createAccount({ onlyReturnExisting: true }).then(
      () => true,
      () => false,
    )
    const made = { termsOfServiceAgreed: true, ...(email && { contact: [`mailto:${email}`] }) }
    if (!isKnown)
      await client.createAccount(made).catch(error => {
        // Where another process was quicker, its account is ours.
        if (!hasAccount(client)) throw error
      })
    return client.getAccountUrl()
  }

  async function load() {
    const acme = await import('acme-client')
    // Its own retries wait as long as the authority says, within the order; ours come after it.
    Object.assign(acme.axios.defaults, {
      timeout: requestTimeoutMs,
      acmeSettings: { retryMaxAttempts: 0, retryDefaultDelay: 1 },
      ...(caFile && { httpsAgent: new Agent({ ca: readFileSync(caFile) }) }),
    })
    acme.axios.interceptors.response.use(response => {
      if (response.status === 429 || response.status === 503) waitMs = readRetryAfter(response.headers['retry-after'])
      return response
    })
    return acme
  }
  let loading: ReturnType<typeof load> | undefined
  const library = () => {
    loading ??= load().catch(error => {
      loading = undefined
      throw error
    })
    return loading
  }

  return {
    directory,
    newAccountKey: async () => (await (await library()).crypto.createPrivateEcdsaKey('P-256')).toString(),
    async issue(name, accountKey, challenges) {
      try {
        const { Client: AcmeClient, crypto } = await library()
        waitMs = 0
        const [privateKey, csr] = await crypto.createCsr({ altNames: [name] }, await crypto.createPrivateEcdsaKey())
        const client = new AcmeClient({
          directoryUrl: directory,
          accountKey,
          ...(accountUrl && { accountUrl }),
          backoffAttempts: pollTimes,
          backoffMin: pollIntervalMs,
          backoffMax: pollIntervalMs * 10,
        })
        accountUrl ??= await register(client)
        const chain = await client.auto({
          csr,
          challengePriority: ['http-01'],
          // It would be from here that we looked; whether the world sees it, the authority finds out.
          skipChallengeVerification: true,
          challengeCreateFn: (_authorization, { token, type }, keyAuthorization) => {
            if (type !== 'http-01') throw new Error('the authority offers no HTTP-01 challenge')
            return challenges.put(token, keyAuthorization)
          },
          challengeRemoveFn: (_authorization, { token }) => challenges.remove(token),
        })
        return { chain, privateKey: privateKey.toString() }
      } catch (error) {
        // Should the account be gone, another one is registered.
        accountUrl = undefined
        throw new CertificateAuthorityError((error as Error).message.slice(0, longestMessage), waitMs)
      }
    },
  }
}

function hasAccount(client: Client): boolean {
  try {
    return client.getAccountUrl() !== ''
  } catch {
    return false
  }
}

/** Seconds or a date (RFC 9110 §10.2.3), as milliseconds from now; 0 where there is neither. */
function readRetryAfter(text: unknown): number {
  if (typeof text !== 'string') return 0
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}
