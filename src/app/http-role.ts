import { openRequestLog } from '../accounts/request-log/writer.ts'
import type { DomainsUse } from '../domains/deps.ts'
import { startRechecking } from '../domains/recheck/recheck.ts'
import { checkReadiness } from '../health/readiness/checks.ts'
import { startReadinessMetrics } from '../health/readiness/metrics.ts'
import { startIndexing } from '../inbox/search/indexer.ts'
import { openTextWorker } from '../inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import { openSending } from '../sending/send.ts'
import { openHttpDoor } from '../servers/http/server.ts'
import { webhooksOf, zonesOf } from './adapters.ts'
import { httpFeatures } from './http-features.ts'
import { startHousekeeping } from './jobs.ts'
import type { Shared } from './shared.ts'

/** Starts the HTTP API, and what is done beside it; gives where it listens, in the clear and by HTTPS. `wake` tells the relay that there is work. */
export function startHttpRole(
  shared: Shared,
  wake: () => void,
  certificates: Certificates,
): { readonly http: string; readonly https: string | null } {
  const { config, log, clock, secrets, resolver, canary, scanner, provider, atEnd } = shared
  const db = shared.openPool('http')
  const blobs = mysqlBlobs(db, clock)
  const zone = zonesOf(config, db, clock)
  const domains: DomainsUse = {
    db,
    clock,
    resolver,
    zone,
    instance: {
      hostname: config.hostname,
      spfInclude: config.spfInclude,
      returnPath: provider.traits.returnPath,
    },
    identities: shared.realProvider.identities,
    secrets,
  }
  const rechecking = startRechecking({
    ...domains,
    db: shared.db,
    log,
    longestWaitMs: config.domainRecheckMinutes * 60_000,
    rotateDays: config.dkimRotateDays,
  })
  atEnd(() => rechecking.stop())
  startHousekeeping(shared)
  const requestLog = openRequestLog(shared.db, log)
  atEnd(() => requestLog.close())
  const texts = openTextWorker()
  atEnd(() => texts.close())
  const sending = openSending({
    db,
    blobs,
    clock,
    provider: provider.traits.name,
    publicUrl: config.publicUrl,
    unconfirmedMs: config.unconfirmedHours * 3_600_000,
    hasRoom: shared.hasRoom,
    outlineLarge: texts.outline,
    wake,
  })
  atEnd(() => sending.rendering.close())
  const readiness = checkReadiness({ config, db: shared.db, canary, scanner, provider, zone, certificates, clock })
  const watching = startReadinessMetrics(readiness, log)
  atEnd(() => watching.stop())
  const door = openHttpDoor({
    config,
    db,
    features: httpFeatures({
      domains,
      sending,
      inbox: { db, blobs, texts, hostname: config.hostname },
      requestLog,
      webhooks: webhooksOf(config),
      log,
      publicUrl: config.publicUrl,
      hostname: config.hostname,
    }),
    https: config.httpsListen && { listen: config.httpsListen, certificates },
    requestLog,
    mcp: {
      names: [config.hostname, new URL(config.publicUrl).hostname, config.httpListen.host],
      origins: config.mcpOrigins ?? [],
    },
    log,
    clock,
    readiness,
  })
  atEnd(() => door.close())
  const indexing = startIndexing({ db: shared.db, blobs: mysqlBlobs(shared.db, clock), texts, log })
  atEnd(() => indexing.stop())
  return { http: door.url, https: door.tlsUrl }
}
