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
    taken: async () => ses.sent.map(({ from, to, message }) => ({ from, to, message })),
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

test('SES is told which email it is and of which configuration set, and the request is signed for its region', () =>
  withSes(async (ses, provider) => {
    await provider.submit(submission())
    expect(ses.sent[0]).toMatchObject({ tags: { 'mailroom-id': submission().emailId }, configurationSet: 'mail' })
    expect(ses.signers[0]).toMatch(/^AKIDEXAMPLE\/\d{8}\/eu-west-1\/ses\/aws4_request$/)
  }))

test.each([
  ['eu-west-1', 'eu-west-1.amazonses.com'],
  ['us-east-1', 'email.amazonses.com'],
])('the Message-ID that recipients see is of %s', (region, domain) =>
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

interface Told {
  readonly kind: string
  readonly phase: string
  readonly code?: number
  readonly ambiguous?: boolean
}

const failed: Told = { kind: 'failed', phase: 'final-dot' }
/** Of the domain alone: the reply has a code. */
const domainTrouble: Told = { kind: 'route-error', phase: 'mail', code: 554 }
const accountTrouble: Told = { kind: 'route-error', phase: 'mail' }
const credentials: Told = { kind: 'route-error', phase: 'auth' }
const unknown: Told = { kind: 'deferred', phase: 'final-dot', ambiguous: true }

const answers: readonly (readonly [status: number, error: string, message: string, told: Told])[] = [
  [400, 'MessageRejected', 'Transaction failed: Expected disposition, got null.', failed],
  [400, 'BadRequestException', "Missing final '@domain'", failed],
  [413, 'RequestEntityTooLargeException', 'Request entity too large', failed],
  [
    400,
    'MessageRejected',
    'Email address is not verified. The following identities failed the check in region EU-WEST-1: shop.test',
    domainTrouble,
  ],
  [400, 'MailFromDomainNotVerifiedException', 'The MAIL FROM domain of shop.test is not verified.', domainTrouble],
  [400, 'AccountSuspendedException', 'The account’s ability to send email has been restricted.', accountTrouble],
  [400, 'SendingPausedException', 'Sending is paused for the configuration set.', accountTrouble],
  [400, 'LimitExceededException', 'Daily message quota exceeded.', accountTrouble],
  [429, 'TooManyRequestsException', 'Maximum sending rate exceeded.', accountTrouble],
  [400, 'ThrottlingException', 'Rate exceeded', accountTrouble],
  [404, 'NotFoundException', 'Configuration set <mail> does not exist.', accountTrouble],
  [400, 'SomethingNewException', 'Nobody knows.', accountTrouble],
  [503, 'ServiceUnavailable', 'Try again later.', accountTrouble],
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
  test(`an answer ${answer.status} that cannot be read may have been a yes`, () =>
    withSes(async (ses, provider) => {
      ses.response = answer
      expect((await provider.submit(submission()))[0]).toMatchObject({ kind: 'deferred', ambiguous: true })
    }))

test('a proxy that answers 400 in no form of SES costs no mail', () =>
  withSes(async (ses, provider) => {
    ses.response = { status: 400, body: '<html>Bad Request' }
    expect((await provider.submit(submission()))[0]?.kind).toBe('route-error')
  }))

test('SES that does not answer in time may have taken the message', () =>
  withSes(async (ses, provider) => {
    ses.response = 'never'
    const [outcome] = await provider.submit(submission({ signal: AbortSignal.timeout(200) }))
    expect(outcome).toMatchObject({ kind: 'deferred', ambiguous: true, reply: { phase: 'final-dot' } })
  }))

test('a connection that is refused is the route’s trouble, one that is cut off may have carried the message', async () => {
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

test('without credentials the route is in trouble and no mail is lost', () =>
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

test('an account that may not send is trouble', () =>
  withSes(async (ses, provider) => {
    ses.account = { SendingEnabled: false }
    expect(await provider.checkHealth()).toContain('paused')
    ses.account = { SendingEnabled: true, EnforcementStatus: 'SHUTDOWN' }
    expect(await provider.checkHealth()).toContain('suspended')
  }))

test('without a topic a status ends at sent', () =>
  withSes(async (_, provider) => expect(provider.traits.reports).toBe('none'), { receivesEvents: false }))
