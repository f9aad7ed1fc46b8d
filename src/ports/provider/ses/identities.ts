import type { GetEmailIdentityResponse } from '@aws-sdk/client-sesv2'
import { type IdentityRecord, ProviderError, type ProviderIdentities } from '../port.ts'
import type { LoadedSes, SesClient } from './client.ts'
import { describeError } from './errors.ts'

export interface SesIdentitiesOptions {
  readonly region: string
  /** Do SES's events reach us? Then SES need not mail bounces and complaints to the sender as well. */
  readonly receivesEvents: boolean
}

const timeoutMs = 10_000

/**
 * The domains that an account may send from. SES adds a DKIM signature with its own keys (Easy DKIM) to ours, and verifies a
 * domain by the records of these keys. Once it finds the records of the custom MAIL FROM domain, its reverse-path is below the
 * domain. What an operator has set up differently stays.
 * https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
 */
export function sesIdentities(open: SesClient, { region, receivesEvents }: SesIdentitiesOptions): ProviderIdentities {
  async function find({ client, sdk }: LoadedSes, domain: string): Promise<GetEmailIdentityResponse | null> {
    try {
      return await client.send(new sdk.GetEmailIdentityCommand({ EmailIdentity: domain }), requestOptions())
    } catch (error) {
      if (error instanceof sdk.NotFoundException) return null
      throw error
    }
  }

  async function create({ client, sdk }: LoadedSes, domain: string): Promise<void> {
    try {
      await client.send(new sdk.CreateEmailIdentityCommand({ EmailIdentity: domain }), requestOptions())
    } catch (error) {
      // Another process registered it at the same time: an identity belongs to the account.
      if (!(error instanceof sdk.AlreadyExistsException)) throw error
    }
  }

  async function setUp({ client, sdk }: LoadedSes, domain: string, identity: GetEmailIdentityResponse | null) {
    const mailFrom = identity?.MailFromAttributes?.MailFromDomain
    if (!mailFrom)
      await client.send(
        new sdk.PutEmailIdentityMailFromAttributesCommand({
          EmailIdentity: domain,
          MailFromDomain: `mr-bounces.${domain}`,
          BehaviorOnMxFailure: 'USE_DEFAULT_VALUE',
        }),
        requestOptions(),
      )
    if (receivesEvents && identity?.FeedbackForwardingStatus === true)
      await client.send(
        new sdk.PutEmailIdentityFeedbackAttributesCommand({ EmailIdentity: domain, EmailForwardingEnabled: false }),
        requestOptions(),
      )
  }

  return {
    name: 'Amazon SES',
    location: `ses ${region}`,
    enrol: domain =>
      orProviderError(async () => {
        const ses = await open()
        if ((await find(ses, domain)) === null) await create(ses, domain)
        await setUp(ses, domain, await find(ses, domain))
        return recordsOf(domain, region, await find(ses, domain))
      }),
    check: domain => orProviderError(async () => (await find(await open(), domain))?.VerifiedForSendingStatus === true),
  }
}

function requestOptions() {
  return { abortSignal: AbortSignal.timeout(timeoutMs) }
}

async function orProviderError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw new ProviderError(describeError(cause), { cause })
  }
}

function recordsOf(domain: string, region: string, identity: GetEmailIdentityResponse | null): IdentityRecord[] {
  const { Tokens = [], SigningHostedZone, SigningAttributesOrigin } = identity?.DkimAttributes ?? {}
  const isTheirs = SigningAttributesOrigin !== 'EXTERNAL'
  const mailFrom = identity?.MailFromAttributes?.MailFromDomain ?? ''
  const returnPath = { purpose: 'return_path', name: mailFrom, required: false } as const
  return [
    ...(isTheirs ? Tokens : []).map(token => ({
      purpose: 'dkim' as const,
      type: 'CNAME' as const,
      name: `${token}._domainkey.${domain}`,
      value: `${token}.${SigningHostedZone || 'dkim.amazonses.com'}`,
      priority: null,
      required: true,
    })),
    ...(mailFrom.endsWith(`.${domain}`)
      ? [
          { ...returnPath, type: 'MX' as const, value: `feedback-smtp.${region}.amazonses.com`, priority: 10 },
          { ...returnPath, type: 'TXT' as const, value: 'v=spf1 include:amazonses.com ~all', priority: null },
        ]
      : []),
  ]
}
