/** An email that was sent through the test's Amazon SES. */
export interface SesSend {
  readonly from: string
  readonly to: readonly string[]
  readonly message: Buffer
  readonly tags: Readonly<Record<string, string>>
  readonly configurationSet: string | null
}

/** A response of the API: the error's name goes into a header, its message into the body. */
export interface SesResponse {
  readonly status: number
  readonly error?: string
  readonly body: object | string
}

/** A domain identity of the account. */
export interface TestIdentity {
  isVerified: boolean
  mailFrom: string | undefined
  isForwarding: boolean
  /** `EXTERNAL`: DKIM with the operator's own key (BYODKIM), with the first token as selector. */
  origin: 'AWS_SES' | 'EXTERNAL'
  readonly tokens: readonly string[]
}

export interface TestSes {
  readonly url: string
  readonly sent: SesSend[]
  /** The credential scopes of the requests: `<key>/<date>/<region>/ses/aws4_request`. */
  readonly signers: string[]
  /** The response instead of sending; null: it sends. `never`: it does not respond. */
  response: SesResponse | 'never' | null
  account: object
  readonly identities: Map<string, TestIdentity>
  /** Whether new domains are verified at once. */
  verifiesAtOnce: boolean
  close(): Promise<void>
}

interface SendEmail {
  readonly FromEmailAddress?: string
  readonly Destination: { readonly ToAddresses: readonly string[] }
  readonly Content: { readonly Raw: { readonly Data: string } }
  readonly EmailTags?: readonly { readonly Name: string; readonly Value: string }[]
  readonly ConfigurationSetName?: string
}

/** Sets credentials in the environment, where the SDK looks for them. Returns a function that restores it. */
export function setAwsCredentials(): () => void {
  const set = {
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'a-secret-of-the-test',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_CONFIG_FILE: '/dev/null',
  }
  const before = Object.keys(set).map(name => [name, process.env[name]] as const)
  Object.assign(process.env, set)
  return () => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

/** Starts a server that implements https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html */
export function startSes(): TestSes {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: respond })
  const ses: TestSes = {
    url: `http://127.0.0.1:${server.port}`,
    sent: [],
    signers: [],
    response: null,
    account: { SendingEnabled: true, EnforcementStatus: 'HEALTHY', ProductionAccessEnabled: true },
    identities: new Map(),
    verifiesAtOnce: false,
    close: () => server.stop(true),
  }

  async function respond(request: Request): Promise<Response> {
    ses.signers.push(/Credential=([^,]+)/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '?')
    const body = await request.text()
    if (ses.response === 'never') return new Promise(() => undefined)
    if (ses.response) return scripted(ses.response)
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/v2/email/identities')) return respondIdentity(ses, request.method, pathname, body)
    switch (`${request.method} ${pathname}`) {
      case 'GET /v2/email/account':
        return Response.json(ses.account)
      case 'POST /v2/email/outbound-emails':
        ses.sent.push(readSend(JSON.parse(body)))
        return Response.json({ MessageId: `0102018f-${ses.sent.length}-000000` })
      default:
        return scripted({ status: 404, error: 'UnknownOperationException', body: {} })
    }
  }
  return ses
}

/** https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetEmailIdentity.html and the operations beside it. */
function respondIdentity(
  { identities, verifiesAtOnce }: TestSes,
  method: string,
  pathname: string,
  body: string,
): Response {
  const [, , , , domain = '', part = ''] = pathname.split('/').map(decodeURIComponent)
  const input = body === '' ? {} : JSON.parse(body)
  if (method === 'POST') {
    const { EmailIdentity: name } = input
    if (identities.has(name)) return scripted({ status: 400, error: 'AlreadyExistsException', body: {} })
    const tokens = ['a', 'b', 'c'].map(letter => `${letter}${name.replaceAll('.', '')}`)
    identities.set(name, {
      isVerified: verifiesAtOnce,
      mailFrom: undefined,
      isForwarding: true,
      origin: 'AWS_SES',
      tokens,
    })
    return Response.json({ IdentityType: 'DOMAIN' })
  }
  const identity = identities.get(domain)
  if (!identity) return scripted({ status: 404, error: 'NotFoundException', body: { message: `No ${domain}.` } })
  if (method === 'PUT' && part === 'mail-from') identity.mailFrom = input.MailFromDomain
  if (method === 'PUT' && part === 'feedback') identity.isForwarding = input.EmailForwardingEnabled
  if (method === 'PUT') return Response.json({})
  return Response.json({
    IdentityType: 'DOMAIN',
    FeedbackForwardingStatus: identity.isForwarding,
    VerifiedForSendingStatus: identity.isVerified,
    VerificationStatus: identity.isVerified ? 'SUCCESS' : 'PENDING',
    DkimAttributes: {
      SigningEnabled: true,
      SigningAttributesOrigin: identity.origin,
      Tokens: identity.tokens,
      ...(identity.origin === 'AWS_SES' && { SigningHostedZone: 'dkim.eu-west-1.amazonses.com' }),
    },
    ...(identity.mailFrom && {
      MailFromAttributes: { MailFromDomain: identity.mailFrom, MailFromDomainStatus: 'PENDING' },
    }),
  })
}

function scripted({ status, error, body }: SesResponse): Response {
  const headers = { 'content-type': 'application/json', ...(error && { 'x-amzn-errortype': error }) }
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
}

function readSend(send: SendEmail): SesSend {
  return {
    from: send.FromEmailAddress ?? '',
    to: send.Destination.ToAddresses,
    message: Buffer.from(send.Content.Raw.Data, 'base64'),
    tags: Object.fromEntries((send.EmailTags ?? []).map(tag => [tag.Name, tag.Value])),
    configurationSet: send.ConfigurationSetName ?? null,
  }
}
