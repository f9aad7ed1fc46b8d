import pino from 'pino'
import { systemClock } from '../../src/base/clock.ts'
import { openDatabase } from '../../src/base/database/database.ts'
import { secretsOf } from '../../src/base/secrets/secrets.ts'
import { watchSequence } from '../../src/events/sequence-watch.ts'
import { receiverTls } from '../../src/events/webhooks/destination/trusted-roots.ts'
import { WebhookDispatcher } from '../../src/events/webhooks/dispatch/dispatcher.ts'
import { networkResolver } from '../../src/ports/resolver/network/network.ts'

/** What {@link startWebhookProcess} runs: a dispatcher alone, until it is killed. */
const [databaseUrl = '', dnsPort = '', caFile = '', secretKey = '', leaseMs = ''] = process.argv.slice(2)
const { db } = openDatabase(databaseUrl, 4)
const log = pino({ level: process.env['MAILROOM_TEST_LOG'] ?? 'silent' })
new WebhookDispatcher(
  {
    db,
    clock: systemClock,
    log,
    secrets: secretsOf([Buffer.from(secretKey, 'base64')]),
    resolver: networkResolver({ servers: [{ host: '127.0.0.1', port: Number(dnsPort) }], timeoutMs: 1000 }),
    policy: { allowedNetworks: ['127.0.0.0/8'], allowsHttp: false },
    tls: receiverTls(caFile),
    sequenceWatch: watchSequence({ db, log }),
  },
  Number(leaseMs),
)
process.stdout.write('started\n')
