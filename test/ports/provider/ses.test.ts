import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { type SesOptions, sesProvider } from '../../../src/ports/provider/ses/ses.ts'
import { type SesResponse, setAwsCredentials, startSes, type TestSes } from '../../harness/ses.ts'
import { providerContract, submission } from './contract.ts'

let restore: () => void
beforeAll(() => {
  restore = setAwsCredentials()
})
afterAll(() => restore())

function newProvider(endpoint: string, given: Partial<SesOptions> = {}) {
  const options = { region: 'eu-west-1', configurationSet: 'mail', perSecond: null, receivesEvents: true, endpoint }
  return sesProvider({ ...options, ...given })
}

providerContract('Amazon SES', async () => {
  const ses = startSes()
  return {
    provider: newProvider(ses.url),
    received: async () => ses.sent.map(({ from, to, message }) => ({ from, to, message })),
    close: () => ses.close(),
  }
})

async function withSes<Result>(
  work: (ses: TestSes, provider: ReturnType<typeof newProvider>) => Promise<Result>,
  given: Partial<SesOptions> = {},
): Promise<Result> {
  const ses = startSes()
  const provider = newProvider(ses.url, given)
  try {
    return await work(ses, provider)
  } finally {
    await provider.close()
    await ses.close()
  }
}

test('a submission has the email’s id and the configuration set, and is signed for the region', () =>
  withSes(async (ses, provider) => {
    await provider.submit(submission())
    expect(ses.sent[0]).toMatchObject({ tags: { 'mailroom-id': submission().emailId }, configurationSet: 'mail' })
    expect(ses.signers[0]).toMatch(/^AKIDEXAMPLE\/\d{8}\/eu-west-1\/ses\/aws4_request$/)
  }))

test.each([
  ['eu-west-1', 'eu-west-1.amazonses.com'],
  ['us-east-1', 'email.amazonses.com'],
])('the Message-ID that recipients see has the domain of %s', (region, domain) =>
  withSes(
    async (_, provider) =>
      expect(await provider.submit(submission())).toEqual([
        expect.objectContaining({
          providerMessageId: '0102018f-1-000000',
          wireMessageId: `0102018f-1-000000@${domain}`,
        }),
      ]),
    { region },
  ),
)

interface ExpectedOutcome {
  readonly kind: string
  readonly phase: string
  readonly code?: number
  readonly ambiguous?: boolean
}

const failed: ExpectedOutcome = { kind: 'failed', phase: 'final-dot' }
/** About the sender's domain alone: the reply has a code. */
const domainError: ExpectedOutcome = { kind: 'route-error', phase: 'mail', code: 554 }
const accountError: ExpectedOutcome = { kind: 'route-error', phase: 'mail' }
const credentials: ExpectedOutcome = { kind: 'route-error', phase: 'auth' }
const unknown: ExpectedOutcome = { kind: 'deferred', phase: 'final-dot', ambiguous: true }

const answers: readonly (readonly [status: number, error: string, message: string, outcome: ExpectedOutcome])[] = [
  [400, 'MessageRejected', 'Transaction failed: Expected disposition, got null.', failed],
  [400, 'BadRequestException', "Missing final '@domain'", failed],
  [413, 'RequestEntityTooLargeException', 'Request entity too large', failed],
  [
    400,
    'MessageRejected',
    'Email address is not verified. The following identities failed the check in region EU-WEST-1: shop.test',
    domainError,
  ],
  [400, 'MailFromDomainNotVerifiedException', 'The MAIL FROM domain of shop.test is not verified.', domainError],
  [400, 'AccountSuspendedException', 'The account’s ability to send email has been restricted.', accountError],
  [400, 'SendingPausedException', 'Sending is paused for the configuration set.', accountError],
  [400, 'LimitExceededException', 'Daily message quota exceeded.', accountError],
  [429, 'TooManyRequestsException', 'Maximum sending rate exceeded.', accountError],
  [400, 'ThrottlingException', 'Rate exceeded', accountError],
  [404, 'NotFoundException', 'Configuration set <mail> does not exist.', accountError],
  [400, 'SomethingNewException', 'Nobody knows.', accountError],
  [503, 'ServiceUnavailable', 'Try again later.', accountError],
  [403, 'InvalidSignatureException', 'The request signature does not match.', credentials],
  [403, 'AccessDeniedException', 'Not authorized to perform ses:SendEmail', credentials],
  [500, 'InternalFailure', 'Unknown.', unknown],
]

for (const [status, error, message, { kind, phase, code = null, ambiguous }] of answers)
  test(`${error} (${status}) of SES is ${kind} at ${phase}: ${message}`, () =>
    withSes(async (ses, provider) => {
      ses.response = { status, error, body: { message } }
      const [outcome] = await provider.submit(submission())
      expect(outcome).toMatchObject({ kind, reply: { phase, code }, ...(ambiguous && { ambiguous }) } as object)
      expect(outcome?.reply.text).toContain(error)
      expect(outcome?.reply.text).toContain(message.slice(0, 15))
      expect(ses.signers).toHaveLength(1)
    }))

const unreadable: readonly SesResponse[] = [
  { status: 200, body: 'no JSON' },
  { status: 502, body: '<html>' },
]
for (const answer of unreadable)
  test(`an unreadable response ${answer.status} may mean that the message was accepted`, () =>
    withSes(async (ses, provider) => {
      ses.response = answer
      expect((await provider.submit(submission()))[0]).toMatchObject({ kind: 'deferred', ambiguous: true })
    }))

test('a 400 that is not a response of SES fails no mail', () =>
  withSes(async (ses, provider) => {
    ses.response = { status: 400, body: '<html>Bad Request' }
    expect((await provider.submit(submission()))[0]?.kind).toBe('route-error')
  }))

test('a submission without a response in time is ambiguous', () =>
  withSes(async (ses, provider) => {
    ses.response = 'never'
    const [outcome] = await provider.submit(submission({ signal: AbortSignal.timeout(200) }))
    expect(outcome).toMatchObject({ kind: 'deferred', ambiguous: true, reply: { phase: 'final-dot' } })
  }))

test('a refused connection is a route error, one that ends before the response is ambiguous', async () => {
  const refused = newProvider('http://127.0.0.1:1')
  expect((await refused.submit(submission()))[0]).toMatchObject({ kind: 'route-error', reply: { phase: 'connect' } })
  expect(await refused.checkHealth()).toContain('ECONNREFUSED')
  const server = await listening(createServer(socket => socket.once('data', () => socket.destroy())))
  const cut = newProvider(`http://127.0.0.1:${server.port}`)
  expect((await cut.submit(submission()))[0]).toMatchObject({ kind: 'deferred', ambiguous: true })
  await Promise.all([refused.close(), cut.close()])
  server.close()
})

async function listening(server: Server) {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, close: () => server.close() }
}

test('missing credentials are a route error, so no mail is lost', () =>
  withSes(async (_, provider) => {
    const key = process.env['AWS_ACCESS_KEY_ID']
    delete process.env['AWS_ACCESS_KEY_ID']
    try {
      expect((await provider.submit(submission()))[0]).toMatchObject({
        kind: 'route-error',
        reply: { phase: 'auth' },
      })
    } finally {
      process.env['AWS_ACCESS_KEY_ID'] = key
    }
  }))

test('an account that may not send is not healthy', () =>
  withSes(async (ses, provider) => {
    ses.account = { SendingEnabled: false }
    expect(await provider.checkHealth()).toContain('paused')
    ses.account = { SendingEnabled: true, EnforcementStatus: 'SHUTDOWN' }
    expect(await provider.checkHealth()).toContain('suspended')
  }))

test('without a topic a status ends at sent', () =>
  withSes(async (_, provider) => expect(provider.traits.reports).toBe('none'), { receivesEvents: false }))
