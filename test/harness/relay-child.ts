import pino from 'pino'
import { systemClock } from '../../src/base/clock.ts'
import { openDatabase } from '../../src/base/database/database.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { startRelay } from '../../src/sending/relay/relay.ts'
import { signingKeys } from './secrets.ts'
import { testSmarthost } from './smarthost.ts'

/** What {@link startRelayProcess} runs: a relay alone, until it is ended. */
const [databaseUrl = '', smarthostUrl = '', leaseMs = '', connections = ''] = process.argv.slice(2)
const { db } = openDatabase(databaseUrl, 8)
startRelay({
  db,
  blobs: mysqlBlobs(db, systemClock),
  provider: testSmarthost(smarthostUrl, { connections: Number(connections), attemptTimeoutMs: 20_000 }),
  signingKeys,
  clock: systemClock,
  log: pino({ level: 'warn' }),
  attemptMs: 20_000,
  retryFirstMs: 200,
  leaseMs: Number(leaseMs),
})
process.stdout.write('started\n')
