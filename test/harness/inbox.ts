import { randomBytes } from 'node:crypto'
import { systemClock } from '../../src/base/clock.ts'
import { startJob } from '../../src/base/concurrency/background-job.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { openLog } from '../../src/base/observability/log.ts'
import { mailboxRoutes } from '../../src/domains/mailboxes/routes.ts'
import { domainRoutes } from '../../src/domains/routes.ts'
import { receivedMessages } from '../../src/inbox/reply/received-messages.ts'
import { replyRoutes } from '../../src/inbox/reply/routes.ts'
import { inboxRoutes } from '../../src/inbox/routes.ts'
import { indexRound } from '../../src/inbox/search/indexer.ts'
import { openTextWorker } from '../../src/inbox/text-worker/text-worker.ts'
import { viewRoutes } from '../../src/inbox/view/session-routes.ts'
import { mailauthAuthenticator } from '../../src/ports/authenticator/mailauth/mailauth.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { createCanary } from '../../src/ports/resolver/canary.ts'
import { networkResolver } from '../../src/ports/resolver/network/network.ts'
import { clamdScanner } from '../../src/ports/scanner/clamd.ts'
import { MessageFiler } from '../../src/receiving/file.ts'
import type { IncomingMessage } from '../../src/receiving/incoming-message.ts'
import { type ReceiveDeps, receive } from '../../src/receiving/receive.ts'
import { batchedClaimLookups, findRecipient, type RecipientDeps } from '../../src/receiving/recipient.ts'
import { openSending } from '../../src/sending/accept/open-sending.ts'
import { draftRoutes } from '../../src/sending/drafts/routes.ts'
import { emailRoutes } from '../../src/sending/emails/routes.ts'
import { hostname, publishAt } from '../domains/fixtures.ts'
import { startDns, type TestDns } from './dns.ts'
import { type CallOptions, openTestHttpServer, type TestHttpServer } from './http-server.ts'
import { fetchValidated } from './openapi-validation.ts'
import { testSecrets } from './secrets.ts'

/** A brand with a domain that sends, and receives mail for every address. */
export interface ReceivingDomain {
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  readonly domain: string
  /** The catch-all mailbox. */
  readonly mailboxId: Id<'mbx'>
}

/** The inbound pipeline and the HTTP server on one database, with real DNS and a real scanner. */
export interface TestInbox {
  readonly server: TestHttpServer
  readonly dns: TestDns
  /** Creates it through the API with `key`, by default the server's own. */
  createReceivingDomain(key?: string): Promise<ReceivingDomain>
  /** Delivers a message as the SMTP server does after the final dot. Returns the id of the first message that was filed. */
  deliver(message: string | Buffer, to: string | readonly string[], more?: DeliveryOptions): Promise<Id<'msg'>>
  /** Fetches a response with its bytes. */
  download(path: string, key?: string): Promise<{ status: number; headers: Headers; bytes: Buffer }>
  close(): Promise<void>
}

export interface DeliveryOptions
  extends Partial<Pick<IncomingMessage, 'mailFrom' | 'remoteIp' | 'helo' | 'tls' | 'smtputf8'>> {
  /** The scanner is unavailable while this message is delivered. */
  readonly unscanned?: boolean
}

const eicar = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')
/** The EICAR test file, which the scanner detects. */
export const infectedBytes = Buffer.from(eicar)

/** @param indexes whether messages are indexed for search */
export async function openTestInbox({ indexes = false } = {}): Promise<TestInbox> {
  const dns = await startDns()
  const resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 300 })
  const texts = openTextWorker()
  const log = openLog('silent')
  const server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => {
      const domains = {
        db,
        clock,
        resolver,
        dnsProvider: null,
        instance: { hostname, spfInclude: undefined },
        secrets: testSecrets,
      }
      const blobs = mysqlBlobs(db, clock)
      const sending = openSending({
        db,
        blobs,
        clock,
        provider: 'sandbox',
        publicUrl: `https://${hostname}`,
        parseLargeMessage: texts.readSummary,
        wake: () => undefined,
      })
      return [
        domainRoutes(domains, () => Promise.resolve([])),
        mailboxRoutes(domains),
        inboxRoutes({ db, blobs, texts, hostname }),
        replyRoutes({ db, blobs, texts, sending }),
        draftRoutes(sending, receivedMessages({ db, blobs, texts })),
        emailRoutes(sending),
        viewRoutes({ db, blobs, texts, sending }),
      ]
    },
  })
  const { db } = server.database
  const blobs = mysqlBlobs(db, systemClock)
  const indexing = indexes
    ? startJob({ name: 'search-index', intervalMs: 500, log }, () => indexRound({ db, blobs, texts, log }))
    : undefined
  const hasDiskSpace = () => true
  const recipientDeps: RecipientDeps = { db, findClaims: batchedClaimLookups(db), hasDiskSpace }
  const depsWithClamd = (clamd: string): ReceiveDeps => ({
    db,
    blobs,
    log,
    hasDiskSpace,
    authenticator: mailauthAuthenticator({ resolver, hostname, messageTimeoutMs: 2000 }),
    canary: createCanary(resolver, hostname),
    scanner: clamdScanner({ address: { kind: 'unix', path: clamd }, timeoutMs: 20_000, maxConcurrentScans: 4 }),
    scanAttachments: 'decoded',
    scanWaitMs: 0,
    policy: { dmarcReject: false, unscanned: 'quarantine' },
    filer: new MessageFiler({ db, blobs }),
  })
  const scanning = depsWithClamd((process.env['MAILROOM_TEST_CLAMD'] ?? '').replace(/^unix:/, ''))
  const withoutScanner = depsWithClamd(`${server.varFolder}/no-clamd`)

  async function post(path: string, json: object | undefined, key: string): Promise<ApiJson> {
    const { status, json: body } = await server.call('POST', path, {
      key,
      ...(json ? { json } : {}),
    } satisfies CallOptions)
    if (status > 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`)
    return body
  }

  return {
    server,
    dns,
    async createReceivingDomain(key = server.key) {
      const name = randomBytes(6).toString('hex')
      const domain = `${name}.example`
      const { id: brandId } = await post('/v1/brands', { name, slug: name }, key)
      const ownership = `/v1/domains/ownership?domain=${domain}&brand_id=${brandId}`
      publishAt(dns, (await server.call('GET', ownership, { key })).json.ownership.record)
      const { id: domainId, dns_records } = await post('/v1/domains', { brand_id: brandId, domain }, key)
      publishAt(dns, ...dns_records)
      await post(`/v1/domains/${domainId}/check`, undefined, key)
      const { identity } = await post(`/v1/domains/${domainId}/receiving`, undefined, key)
      publishAt(dns, ...identity.dns_records)
      await post(`/v1/domains/${domainId}/receiving`, undefined, key)
      const { id: mailboxId } = await post('/v1/mailboxes', { domain_id: domainId }, key)
      return { brandId, domainId, domain, mailboxId }
    },
    async deliver(message, to, { unscanned = false, ...more } = {}) {
      const recipients = await Promise.all([to].flat().map(address => findRecipient(address, recipientDeps)))
      const bytes = Buffer.from(message)
      const mail: IncomingMessage = {
        id: newId('msg'),
        mailFrom: 'bounce@sender.example',
        recipients,
        content: { kind: 'memory', bytes, size: bytes.length },
        remoteIp: '127.0.0.1',
        helo: 'mx.sender.example',
        tls: null,
        smtputf8: false,
        receivedAt: server.clock.now(),
        signal: new AbortController().signal,
        ...more,
      }
      const { id } = await receive(mail, unscanned ? withoutScanner : scanning)
      return id as Id<'msg'>
    },
    async download(path, key = server.key) {
      const response = await fetchValidated(server.url + path, { headers: { authorization: `Bearer ${key}` } })
      return {
        status: response.status,
        headers: response.headers,
        bytes: Buffer.from(await response.arrayBuffer()),
      }
    },
    async close() {
      await indexing?.stop()
      await server.close()
      texts.close()
      await dns.close()
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
type ApiJson = any

/** A message: `fields` after From and Message-ID, then `body`. */
export function messageOf(fields: readonly string[] = [], body: string | Buffer = 'Hello.\r\n'): Buffer {
  const head = ['From: Ann <ann@sender.example>', `Message-ID: <${randomBytes(8).toString('hex')}@sender.example>`]
  return Buffer.concat([Buffer.from(`${[...head, ...fields].join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

export interface TestPart {
  /** The whole value of the header field. */
  readonly contentType?: string
  readonly disposition?: string
  readonly bytes: Buffer | string
}

/** A message of several parts, each encoded in base64. */
export function multipart(parts: readonly TestPart[], fields: readonly string[] = []): Buffer {
  const encoded = parts.map(({ contentType = 'text/plain; charset=utf-8', disposition, bytes }) =>
    [
      `--b\r\nContent-Type: ${contentType}`,
      ...(disposition === undefined ? [] : [`Content-Disposition: ${disposition}`]),
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(bytes).toString('base64').replace(/.{76}/g, '$&\r\n'),
      '',
    ].join('\r\n'),
  )
  return messageOf(['Content-Type: multipart/mixed; boundary=b', ...fields], `${encoded.join('')}--b--\r\n`)
}
