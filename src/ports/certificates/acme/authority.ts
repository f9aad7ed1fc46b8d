import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import type { Client } from 'acme-client'

/** A certificate authority, which issues a certificate for a name once it has validated that we control it. */
export interface CertificateAuthority {
  /** The URL of its ACME directory, which identifies it. */
  readonly directory: string
  /** A new private key for an account, PEM. */
  newAccountKey(): Promise<string>
  /** @throws CertificateAuthorityError when it refuses, or does not answer */
  issue(name: string, accountKey: string, challenges: ChallengeStore): Promise<IssuedCertificate>
}

export interface IssuedCertificate {
  /** PEM. */
  readonly chain: string
  readonly privateKey: string
}

/** The HTTP-01 challenges that are to be served at `/.well-known/acme-challenge/<token>` (RFC 8555 §8.3). */
export interface ChallengeStore {
  put(token: string, keyAuthorization: string): Promise<void>
  remove(token: string): Promise<void>
}

/** The authority issued no certificate; the message says why, for an operator. */
export class CertificateAuthorityError extends Error {
  override readonly name = 'CertificateAuthorityError'
  /** How long the authority asks us to wait, in milliseconds; 0: it does not say. */
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

export interface AcmeOptions {
  readonly directory: string
  readonly email: string | undefined
  /** File with the root certificate of the authority's own server; undefined: the public roots. */
  readonly caFile: string | undefined
  /** How often to poll the order at first, in milliseconds; 1000 unless given. */
  readonly pollIntervalMs?: number
}

const requestTimeoutMs = 30_000
const maxPolls = 15
const maxMessageLength = 500

/**
 * An authority that speaks ACME (RFC 8555), through acme-client. Its terms of service are accepted. Keys are ECDSA P-256.
 * The library is loaded with the first order: few processes need it.
 */
export function acmeAuthority({ directory, email, caFile, pollIntervalMs = 1000 }: AcmeOptions): CertificateAuthority {
  let waitMs = 0
  let accountUrl: string | undefined

  /**
   * The URL of the account, which is registered if there is none. acme-client answers a registration of a known account with
   * an empty update, which authorities refuse: so an existing account is asked for first.
   */
  async function register(client: Client): Promise<string> {
    const isKnown = await client.createAccount({ onlyReturnExisting: true }).then(
      () => true,
      () => false,
    )
    const account = { termsOfServiceAgreed: true, ...(email && { contact: [`mailto:${email}`] }) }
    if (!isKnown)
      await client.createAccount(account).catch(error => {
        // If another process registered it first, that account is ours too.
        if (!hasAccount(client)) throw error
      })
    return client.getAccountUrl()
  }

  async function load() {
    const acme = await import('acme-client')
    // By default acme-client sleeps within the order for as long as Retry-After says. We end the order and retry later.
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
          backoffAttempts: maxPolls,
          backoffMin: pollIntervalMs,
          backoffMax: pollIntervalMs * 10,
        })
        accountUrl ??= await register(client)
        const chain = await client.auto({
          csr,
          challengePriority: ['http-01'],
          // acme-client would look from here, where the name may not be reachable; the authority's look is what counts.
          skipChallengeVerification: true,
          challengeCreateFn: (_authorization, { token, type }, keyAuthorization) => {
            if (type !== 'http-01') throw new Error('the authority offers no HTTP-01 challenge')
            return challenges.put(token, keyAuthorization)
          },
          challengeRemoveFn: (_authorization, { token }) => challenges.remove(token),
        })
        return { chain, privateKey: privateKey.toString() }
      } catch (error) {
        // If the account was deleted, the next order registers another one.
        accountUrl = undefined
        throw new CertificateAuthorityError((error as Error).message.slice(0, maxMessageLength), waitMs)
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

/** Retry-After (RFC 9110 §10.2.3), seconds or a date, as milliseconds from now; 0 if it is neither. */
function readRetryAfter(text: unknown): number {
  if (typeof text !== 'string') return 0
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}
