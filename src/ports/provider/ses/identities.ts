import type { GetEmailIdentityResponse } from '@aws-sdk/client-sesv2'
import { type IdentityRecord, ProviderError, type ProviderIdentities } from '../port.ts'
import type { LoadedSes, SesClient } from './client.ts'
import { describeError } from './errors.ts'

export interface SesIdentitiesOptions {
  readonly region: string
  /** Does news of what was sent come to us? Then SES need not mail it to the sender besides. */
  readonly receivesEvents: boolean
}

const answerMs = 10_000

/**
 * The domains that an account may send from. SES signs with keys of its own (Easy DKIM) besides ours, and takes a domain for
 * verified once it sees their records; its reverse-path comes to be below the domain once it sees those of the custom MAIL
 * FROM domain. What an operator has set up otherwise stays.
 * https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
 */
export function sesIdentities(open: SesClient, { region, receivesEvents }: SesIdentitiesOptions): ProviderIdentities {
  async function find({ client, sdk }: LoadedSes, domain: string): Promise<GetEmailIdentityResponse | null> {
    try {
      return await client.send(new sdk.GetEmailIdentityCommand({ EmailIdentity: domain }), inTime())
    } catch (error) {
      if (error instanceof sdk.NotFoundException) return null
      throw error
    }
  }

  async function create({ client, sdk }: LoadedSes, domain: string): Promise<void> {
    try {
      await client.send(new sdk.CreateEmailIdentityCommand({ EmailIdentity: domain }), inTime())
    } catch (error) {
      // Somebody else registers it now: an identity is the account's, whoever asks for it.
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
        inTime(),
      )
    if (receivesEvents && identity?.FeedbackForwardingStatus === true)
      await client.send(
        new sdk.PutEmailIdentityFeedbackAttributesCommand({ EmailIdentity: domain, EmailForwardingEnabled: false }),
        inTime(),
      )
  }

  return {
    name: 'Amazon SES',
    location: `ses ${region}`,
    enrol: domain =>
      orTrouble(async () => {
        const ses = await open()
        if ((await find(ses, domain)) === null) await create(ses, domain)
        await setUp(ses, domain, await find(ses, domain))
        return recordsOf(domain, region, await find(ses, domain))
      }),
    check: domain => orTrouble(async () => (await find(await open(), domain))?.VerifiedForSendingStatus === true),
  }
}

function inTime() {
  return { abortSignal: AbortSignal.timeout(answerMs) }
}

async function orTrouble<Result>(work: () => Promise<Result>): Promise<Result> {
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
