import { openRequestLog } from '../accounts/request-log/writer.ts'
import { openSessionAuthenticator } from '../accounts/sessions/authenticate.ts'
import { openOperatorTasks } from '../accounts/tasks/tasks.ts'
import { hourMs } from '../base/clock.ts'
import { publicAddress } from '../base/config/public-address.ts'
import type { DomainDeps } from '../domains/deps.ts'
import { selectMailboxBrands } from '../domains/mailboxes/table.ts'
import { openEventFeed } from '../events/feed.ts'
import { createReadiness } from '../health/readiness/checks.ts'
import { queueLessons } from '../inbox/spam-lessons/lessons.ts'
import { openTextWorker } from '../inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import { openSending, type SendDeps } from '../sending/accept/open-sending.ts'
import { dashboardFolder } from '../servers/http/dashboard/manifest.ts'
import { openLive } from '../servers/http/live/live.ts'
import { openHttpServer } from '../servers/http/server.ts'
import { createDnsProvider, providerWebhooks } from './adapters.ts'
import type { AppContext } from './app-context.ts'
import { dashboardFeatures } from './dashboard-features.ts'
import { type HttpFeatureDeps, httpFeatures } from './http-features.ts'
import { instanceFeatures } from './instance-features.ts'
import { startJobs } from './jobs/job.ts'
import { jobs } from './jobs/jobs.ts'
import { webhookAttempts } from './webhooks-role.ts'

/** The URLs on which the HTTP role listens, and the sending that it shares with other roles of the process. */
export interface RunningHttpRole {
  readonly http: string
  /** null: not with TLS. */
  readonly https: string | null
  readonly sending: SendDeps
}

/**
 * Starts the HTTP API, MCP and the dashboard; gives the URLs on which it listens, without TLS and with it. `wakeRelay` tells the
 * relay of this process that an email may be due.
 */
export function startHttpRole(context: AppContext, wakeRelay: () => void, certificates: Certificates): RunningHttpRole {
  const { config, log, clock, secrets, resolver, provider, diskSpace, onDrain, onStop } = context
  const db = context.openPool('http')
  const blobs = mysqlBlobs(db, clock)
  const dnsProvider = createDnsProvider(config, db, clock)
  const domains: DomainDeps = {
    db,
    clock,
    resolver,
    dnsProvider,
    instance: {
      hostname: config.hostname,
      spfInclude: config.spfInclude,
      returnPath: provider.traits.returnPath,
    },
    identities: context.configuredProvider.identities,
    secrets,
  }
  const requestLog = openRequestLog(context.db, log)
  onStop(() => requestLog.close())
  const sessionAuthenticator = openSessionAuthenticator(db, clock)
  onStop(() => sessionAuthenticator.close())
  const live = openLive({ db: context.db, watch: context.sequenceWatch, clock, log })
  onDrain(() => live.close())
  const eventFeed = openEventFeed({ db, watch: context.sequenceWatch })
  onDrain(async () => eventFeed.close())
  const texts = openTextWorker()
  onStop(() => texts.close())
  const readiness = createReadiness({ ...context, dnsProvider, certificates })
  const tasks = openOperatorTasks({ db: context.db, clock, log })
  onDrain(() => tasks.stop())
  let opened: SendDeps | undefined
  const openFeatures = (boundUrl: string) => {
    const publicUrl = publicAddress(config, boundUrl)
    const sending = openSending({
      db,
      blobs,
      clock,
      provider: provider.traits.name,
      publicUrl,
      unconfirmedMs: config.unconfirmedHours * hourMs,
      hasDiskSpace: diskSpace.hasSpace,
      parseLargeMessage: texts.readSummary,
      wake: wakeRelay,
    })
    opened = sending
    onStop(() => sending.renderer.close())
    const deps: HttpFeatureDeps = {
      domains,
      sending,
      inbox: {
        ...{ db, blobs, texts, hostname: config.hostname },
        ...(context.spamFilter?.learn && { beforeMove: queueLessons(clock) }),
      },
      requestLog,
      eventFeed,
      webhooks: providerWebhooks(config),
      eventWebhooks: { ...webhookAttempts(context), db, findMailboxBrands: selectMailboxBrands },
      log,
      publicUrl,
      hostname: config.hostname,
    }
    return [
      ...httpFeatures(deps),
      ...dashboardFeatures({ ...deps, provider: provider.traits, retention: config, live }),
      ...instanceFeatures({ context, db, certificates, readiness, tasks, webhooks: deps.webhooks, publicUrl }),
    ]
  }
  startJobs(jobs.http, { ...context, domains, texts, readiness })
  const server = openHttpServer({
    config,
    db,
    features: openFeatures,
    sessionAuthenticator,
    dashboardFolder,
    https: config.httpsListen && { listen: config.httpsListen, certificates },
    requestLog,
    clientLimits: context.clientLimits,
    mcp: {
      names: [
        config.hostname,
        config.httpListen.host,
        ...(config.publicUrl === undefined ? [] : [new URL(config.publicUrl).hostname]),
      ],
      origins: config.mcpOrigins ?? [],
    },
    log,
    clock,
    readiness,
    sharesPorts: context.share.sharesPorts,
  })
  onDrain(() => server.close())
  if (!opened) throw new Error('the HTTP server has opened no features')
  return { http: server.url, https: server.tlsUrl, sending: opened }
}
