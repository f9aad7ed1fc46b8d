import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/base/clock.ts'
import { readConfig } from '../../../src/base/config/config.ts'
import type { DoctorDeps } from '../../../src/health/doctor/check.ts'
import { allChecks } from '../../../src/health/doctor/checks.ts'
import { type DoctorResult, runChecks } from '../../../src/health/doctor/run-checks.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type DnsZoneFile, startDns, type TestDns } from '../../harness/dns.ts'

export interface DoctorFixtures {
  readonly database: FreshDatabase
  readonly dns: TestDns
  readonly varFolder: string
  /** What one check finds, with these settings and dependencies. */
  run(name: string, settings?: Readonly<Record<string, string>>, more?: Partial<DoctorDeps>): Promise<DoctorResult>
  close(): Promise<void>
}

/** A database, the tests' clamd and a DNS server with this zone. */
export async function openDoctorFixtures(zone: DnsZoneFile = {}): Promise<DoctorFixtures> {
  const database = await freshDatabase()
  const dns = await startDns(zone)
  const varFolder = mkdtempSync(join(tmpdir(), 'mailroom-doctor-'))
  const resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 1000 })
  const usual = {
    MAILROOM_DATABASE_URL: database.url,
    MAILROOM_CLAMD: process.env['MAILROOM_TEST_CLAMD'] ?? '',
    MAILROOM_PROVIDER: 'sandbox',
    MAILROOM_HOSTNAME: 'mail.ours.test',
    MAILROOM_VAR: varFolder,
  }
  return {
    database,
    dns,
    varFolder,
    async run(name, settings = {}, more = {}) {
      const checks = allChecks.filter(check => check.name === name)
      const config = readConfig({ ...usual, ...settings })
      const deps = { config, db: database.db, clock: systemClock, resolver, relays: [], publicSmtpPort: 25, ...more }
      const [result] = await runChecks(checks, deps, 20_000)
      if (!result) throw new Error(`there is no check ${name}`)
      return result
    },
    async close() {
      await dns.close()
      await database.close()
      rmSync(varFolder, { recursive: true, force: true })
    },
  }
}
