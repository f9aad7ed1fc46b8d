import { randomBytes } from 'node:crypto'
import { systemClock } from '../../src/base/clock.ts'
import { startJob } from '../../src/base/concurrency/background-job.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { openLog } from '../../src/base/observability/log.ts'
import { domainRoutes, mailboxRoutes } from '../../src/domains/routes.ts'
import { receivedMessages } from '../../src/inbox/reply/received-messages.ts'
import { replyRoutes } from '../../src/inbox/reply/routes.ts'
import { inboxRoutes } from '../../src/inbox/routes.ts'
import { indexRound } from '../../src/inbox/search/indexer.ts'
import { openTextWorker } from '../../src/inbox/text-worker/text-worker.ts'
import { mailauthAuthenticator } from '../../src/ports/authenticator/mailauth.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { createCanary } from '../../src/ports/resolver/canary.ts'
import { networkResolver } from '../../src/ports/resolver/network.ts'
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
  /** The catch-all's. */
  readonly mailboxId: Id<'mbx'>
}

/** The way in and the HTTP door on one database, with real DNS and a real scanner. */
export interface TestInbox {
  readonly server: TestHttpServer
  readonly dns: TestDns
  /** Made through the API with `key`; the door's own key unless given. */
  createReceivingDomain(key?: string): Promise<ReceivingDomain>
  /** Takes a message in, as the SMTP door does after its final dot; the id of what was filed first. */
  deliver(message: string | Buffer, to: string | readonly string[], more?: DeliveryOptions): Promise<Id<'msg'>>
  /** An answer with its bytes as they came. */
  download(path: string, key?: string): Promise<{ status: number; headers: Headers; bytes: Buffer }>
  close(): Promise<void>
}

export interface DeliveryOptions
  extends Partial<Pick<IncomingMessage, 'mailFrom' | 'remoteIp' | 'helo' | 'tls' | 'smtputf8'>> {
  /** The scanner is away while this message comes. */
  readonly unscanned?: boolean
}

const eicar = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')
/** What the scanner finds. */
export const infectedBytes = Buffer.from(eicar)

/** `indexes`: search text is written while it is open. */
export async function openTestInbox({ indexes = false } = {}): Promise<TestInbox> {
  const dns = await startDns()
  const resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 300 })
  const texts = openTextWorker()
  const log = openLog('silent')
  const door = await openTestHttpServer({
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
      ]
    },
  })
  const { db } = door.database
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
    scanWaitMs: 0,
    policy: { dmarcReject: false, unscanned: 'quarantine' },
    filer: new MessageFiler({ db, blobs }),
  })
  const scanning = depsWithClamd((process.env['MAILROOM_TEST_CLAMD'] ?? '').replace(/^unix:/, ''))
  const withoutScanner = depsWithClamd(`${door.varFolder}/no-clamd`)

  async function post(path: string, json: object | undefined, key: string): Promise<ApiJson> {
    const { status, json: answer } = await door.call('POST', path, {
      key,
      ...(json ? { json } : {}),
    } satisfies CallOptions)
    if (status > 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }

  return {
    server: door,
    dns,
    async createReceivingDomain(key = door.key) {
      const name = randomBytes(6).toString('hex')
      const domain = `${name}.example`
      const { id: brandId } = await post('/v1/brands', { name, slug: name }, key)
      const ownership = `/v1/domains/ownership?domain=${domain}&brand_id=${brandId}`
      publishAt(dns, (await door.call('GET', ownership, { key })).json.ownership.record)
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
        receivedAt: door.clock.now(),
        signal: new AbortController().signal,
        ...more,
      }
      const { id } = await receive(mail, unscanned ? withoutScanner : scanning)
      return id as Id<'msg'>
    },
    async download(path, key = door.key) {
      const response = await fetchValidated(door.url + path, { headers: { authorization: `Bearer ${key}` } })
      return {
        status: response.status,
        headers: response.headers,
        bytes: Buffer.from(await response.arrayBuffer()),
      }
    },
    async close() {
      await indexing?.stop()
      await door.close()
      texts.close()
      await dns.close()
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type ApiJson = any

/** A message: `fields` after From and Message-ID, then `body`. */
export function messageOf(fields: readonly string[] = [], body: string | Buffer = 'Hello.\r\n'): Buffer {
  const head = ['From: Ann <ann@sender.example>', `Message-ID: <${randomBytes(8).toString('hex')}@sender.example>`]
  return Buffer.concat([Buffer.from(`${[...head, ...fields].join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

export interface TestPart {
  /** The whole field values. */
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
