import { createSecureContext, type SecureContext } from 'node:tls'
import pino from 'pino'
import type { Db } from '../../../src/base/database/database.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { appendEvents, type NewEvent } from '../../../src/events/append-events.ts'
import { type SequenceWatch, watchSequence } from '../../../src/events/sequence-watch.ts'
import { startSequencer } from '../../../src/events/sequencer.ts'
import { trustedRoots } from '../../../src/events/webhooks/destination/trusted-roots.ts'
import type { DispatchDeps } from '../../../src/events/webhooks/dispatch/dispatch-deps.ts'
import { WebhookDispatcher } from '../../../src/events/webhooks/dispatch/dispatcher.ts'
import { webhookRoutes } from '../../../src/events/webhooks/routes.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { createTestAuthority, type TestAuthority } from '../../harness/certificates.ts'
import { type DnsNode, startDns, type TestDns } from '../../harness/dns.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { testSecrets } from '../../harness/secrets.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../harness/webhook-receiver.ts'

/** The API for webhooks, a DNS server, an authority for receivers, and what delivers. */
export interface WebhookFixtures {
  readonly server: TestHttpServer
  readonly db: Db
  readonly dns: TestDns
  readonly authority: TestAuthority
  /** Trusts the authority beside the usual roots. */
  readonly tls: SecureContext
  /** Starts a receiver that the DNS server knows. */
  newReceiver(name: string, respond?: WebhookReceiver['respond'], records?: DnsNode): WebhookReceiver
  /** Creates a webhook to a receiver, which then knows its secret. */
  newWebhook(receiver: WebhookReceiver, body?: object, key?: string): Promise<string>
  /** Writes events of the type `suppression.created`, or others, in one transaction; gives their ids. */
  append(count: number, event?: Partial<NewEvent>): Promise<readonly Id<'evt'>[]>
  startDispatcher(leaseMs?: number, deps?: Partial<DispatchDeps>): WebhookDispatcher
  close(): Promise<void>
}

export async function openWebhookFixtures(
  allowedNetworks: readonly string[] = ['127.0.0.0/8'],
): Promise<WebhookFixtures> {
  const authority = createTestAuthority()
  const tls = createSecureContext({ ca: [...trustedRoots(authority.root)] })
  const dns = await startDns()
  const log = pino({ level: process.env['MAILROOM_TEST_LOG'] ?? 'silent' })
  const resolver = networkResolver({
    servers: [dns.endpoint],
    timeoutMs: 5000,
    cache: { maxEntries: 1, maxBytes: 1 },
  })
  let deps: DispatchDeps | undefined
  const server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => {
      const attempts = {
        clock,
        secrets: testSecrets,
        resolver,
        policy: { allowedNetworks, allowsHttp: false },
        tls,
      }
      deps = {
        ...attempts,
        db,
        log,
        sequenceWatch: { subscribe: listener => watch?.subscribe(listener) ?? (() => undefined) },
      }
      return [webhookRoutes({ ...attempts, db, findMailboxBrands: async () => new Map() })]
    },
  })
  const { db } = server.database
  const watch: SequenceWatch | undefined = watchSequence({ db, log })
  const sequencer = startSequencer({ db, log, onNumbered: () => watch?.poll() })
  const dispatchers: WebhookDispatcher[] = []
  const receivers: WebhookReceiver[] = []
  return {
    server,
    db,
    dns,
    authority,
    tls,
    newReceiver(name, respond, records = { A: ['127.0.0.1'] }) {
      const receiver = startWebhookReceiver(authority, name, respond)
      receivers.push(receiver)
      dns.zone[name] = records
      return receiver
    },
    async newWebhook(receiver, body = {}, key = server.key) {
      const json = { url: `${receiver.url}/hook`, types: ['suppression.created'], ...body }
      const created = await server.call('POST', '/v1/webhooks', { json, key })
      if (created.status !== 201) throw new Error(created.text)
      receiver.secrets = [...receiver.secrets, created.json.secret]
      return created.json.id
    },
    async append(count, event = {}) {
      const ids = Array.from({ length: count }, () => newId('evt'))
      await db.transaction().execute(tx =>
        appendEvents(
          tx,
          ids.map((id, i) => ({
            id,
            type: 'suppression.created',
            organizationId: server.organizationId,
            brandId: null,
            occurredAt: server.clock.now(),
            data: { email: `person-${i}@example.com` },
            ...event,
          })),
        ),
      )
      return ids
    },
    startDispatcher(leaseMs, more = {}) {
      if (!deps) throw new Error('the server has not started')
      const dispatcher = new WebhookDispatcher({ ...deps, ...more }, leaseMs)
      dispatchers.push(dispatcher)
      return dispatcher
    },
    async close() {
      await Promise.all(dispatchers.map(dispatcher => dispatcher.stop()))
      await sequencer.stop()
      await watch?.close()
      await Promise.all(receivers.map(receiver => receiver.close()))
      await server.close()
      await dns.close()
      authority.close()
    },
  }
}
