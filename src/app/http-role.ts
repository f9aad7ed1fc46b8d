import { openRequestLog } from '../accounts/request-log/writer.ts'
import type { DomainDeps } from '../domains/deps.ts'
import { startRecheckJob } from '../domains/recheck/recheck.ts'
import { createReadiness } from '../health/readiness/checks.ts'
import { startReadinessMetrics } from '../health/readiness/metrics.ts'
import { startIndexing } from '../inbox/search/indexer.ts'
import { openTextWorker } from '../inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import { openSending } from '../sending/send.ts'
import { openHttpServer } from '../servers/http/server.ts'
import { createDnsZone, providerWebhooks } from './adapters.ts'
import type { AppContext } from './app-context.ts'
import { httpFeatures } from './http-features.ts'
import { startHousekeeping } from './jobs.ts'

/** Starts the HTTP API, and what is done beside it; gives where it listens, in the clear and by HTTPS. `wake` tells the relay that there is work. */
export function startHttpRole(
  shared: AppContext,
  wake: () => void,
  certificates: Certificates,
): { readonly http: string; readonly https: string | null } {
  const { config, log, clock, secrets, resolver, canary, scanner, provider, onStop } = shared
  const db = shared.openPool('http')
  const blobs = mysqlBlobs(db, clock)
  const zone = createDnsZone(config, db, clock)
  const domains: DomainDeps = {
    db,
    clock,
    resolver,
    zone,
    instance: {
      hostname: config.hostname,
      spfInclude: config.spfInclude,
      returnPath: provider.traits.returnPath,
    },
    identities: shared.configuredProvider.identities,
    secrets,
  }
  const rechecking = startRecheckJob({
    ...domains,
    db: shared.db,
    log,
    longestWaitMs: config.domainRecheckMinutes * 60_000,
    rotateDays: config.dkimRotateDays,
  })
  onStop(() => rechecking.stop())
  startHousekeeping(shared)
  const requestLog = openRequestLog(shared.db, log)
  onStop(() => requestLog.close())
  const texts = openTextWorker()
  onStop(() => texts.close())
  const sending = openSending({
    db,
    blobs,
    clock,
    provider: provider.traits.name,
    publicUrl: config.publicUrl,
    unconfirmedMs: config.unconfirmedHours * 3_600_000,
    hasDiskSpace: shared.hasDiskSpace,
    parseLargeMessage: texts.readSummary,
    wake,
  })
  onStop(() => sending.rendering.close())
  const readiness = createReadiness({ config, db: shared.db, canary, scanner, provider, zone, certificates, clock })
  const watching = startReadinessMetrics(readiness, log)
  onStop(() => watching.stop())
  const door = openHttpServer({
    config,
    db,
    features: httpFeatures({
      domains,
      sending,
      inbox: { db, blobs, texts, hostname: config.hostname },
      requestLog,
      webhooks: providerWebhooks(config),
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
  onStop(() => door.close())
  const indexing = startIndexing({ db: shared.db, blobs: mysqlBlobs(shared.db, clock), texts, log })
  onStop(() => indexing.stop())
  return { http: door.url, https: door.tlsUrl }
}
