import { join } from 'node:path'
import type { AnyElysia } from 'elysia'
import { startHousekeeping } from './accounts/housekeeping.ts'
import { invitationLinkRoutes, invitationRoutes } from './accounts/invitation-routes.ts'
import { memberRoutes } from './accounts/member-routes.ts'
import { openRequestLog, type RequestLog } from './accounts/request-log.ts'
import { requestRoutes } from './accounts/request-routes.ts'
import { brandRoutes } from './accounts/routes.ts'
import type { Clock } from './base/clock.ts'
import { systemClock } from './base/clock.ts'
import type { Config } from './base/config.ts'
import { type Database, type Db, openDatabase } from './base/database.ts'
import type { Log } from './base/log.ts'
import { startRounds } from './base/rounds.ts'
import type { Secrets } from './base/secrets.ts'
import { openSigning } from './domains/dkim-keys.ts'
import { dnsRoutes } from './domains/dns-routes.ts'
import { startRechecking } from './domains/recheck.ts'
import { verifiedReturnPaths } from './domains/return-path-table.ts'
import { domainRoutes, mailboxRoutes } from './domains/routes.ts'
import type { DomainBlockers, DomainsUse } from './domains/use.ts'
import { checkReadiness } from './doors/http/check-parts.ts'
import { openMetricsDoor } from './doors/http/metrics-door.ts'
import { openHttpDoor } from './doors/http.ts'
import { openSmtpDoor } from './doors/smtp.ts'
import { startIndexing } from './inbox/indexer.ts'
import { receivedMessages } from './inbox/received.ts'
import { replyRoutes } from './inbox/reply-routes.ts'
import { type InboxUse, inboxRoutes } from './inbox/routes.ts'
import { openTextWorker } from './inbox/text-worker.ts'
import { canonicalDomain } from './mail/address.ts'
import { mailauthAuthenticator } from './ports/authenticator/mailauth.ts'
import { mysqlBlobs } from './ports/blobs/mysql.ts'
import { cloudflareZones } from './ports/dns-zone/cloudflare.ts'
import { localZone } from './ports/dns-zone/local.ts'
import type { DnsZone } from './ports/dns-zone/port.ts'
import { powerDnsZones } from './ports/dns-zone/powerdns.ts'
import { databaseTurns } from './ports/dns-zone/turns.ts'
import { getText } from './ports/provider/amazon-text.ts'
import { brevoWebhook } from './ports/provider/brevo.ts'
import { mailgunWebhook } from './ports/provider/mailgun.ts'
import type { Provider } from './ports/provider/port.ts'
import { postmarkWebhook } from './ports/provider/postmark.ts'
import { presetOf } from './ports/provider/presets.ts'
import { keepInFolder, sandboxProvider } from './ports/provider/sandbox.ts'
import { sendgridWebhook } from './ports/provider/sendgrid.ts'
import { sesProvider } from './ports/provider/ses.ts'
import { sesQueue } from './ports/provider/ses-queue.ts'
import { withSimulator } from './ports/provider/simulator.ts'
import { smarthostProvider } from './ports/provider/smarthost.ts'
import { sesWebhook } from './ports/provider/sns.ts'
import type { ProviderWebhook } from './ports/provider/webhook.ts'
import { openCanary } from './ports/resolver/canary.ts'
import { localResolver } from './ports/resolver/local.ts'
import { networkResolver } from './ports/resolver/network.ts'
import type { Resolver } from './ports/resolver/port.ts'
import { systemServers } from './ports/resolver/system-servers.ts'
import { clamdScanner } from './ports/scanner/clamd.ts'
import type { Scanner } from './ports/scanner/port.ts'
import { bySize, openHeavyWorkers } from './receiving/heavy.ts'
import { startRescanning } from './receiving/rescan.ts'
import { simulatedReportTaker } from './receiving/simulated-report.ts'
import { openWayIn } from './receiving/way-in.ts'
import { draftRoutes } from './sending/drafts/routes.ts'
import { startRelay } from './sending/relay/relay.ts'
import { forgetTokens, recordNews } from './sending/reports/news.ts'
import { type PauseLimits, startPausing } from './sending/reports/pause.ts'
import { returnPathsOf } from './sending/reports/return-path.ts'
import { providerRoutes } from './sending/reports/routes.ts'
import { emailRoutes } from './sending/routes.ts'
import { openSending, type Sending } from './sending/send.ts'
import { suppressionRoutes } from './sending/suppressions/routes.ts'
import { forgetSuppressions } from './sending/suppressions/suppressions.ts'
import { unsubscribeRoutes } from './sending/suppressions/unsubscribe-routes.ts'
import { countUnsent } from './sending/table.ts'
import { templateRoutes } from './sending/templates/routes.ts'

/** The outside, as this process meets it. */
export interface Ports {
  readonly clock: Clock
  readonly resolver: (others: { readonly database: Database }) => Resolver
  readonly scanner: Scanner
  readonly provider: Provider
}

/** A Mailroom that runs in this process. */
export interface Running {
  /** Where the roles listen; null: not a role of this process. */
  readonly http: string | null
  readonly smtp: string | null
  readonly metrics: string
  /** Takes nothing new, finishes what is under way, and closes everything. */
  stop(): Promise<void>
}

const heavyThreads = 1
const sandboxFiles = 1000
const housekeepingMs = 60_000
const clearedAtOnce = 1000
/** After nothing came, or nothing could be taken; SQS itself waits for news. */
const queuePauseMs = 1000

/** The real adapters, as the configuration says. */
export function realPorts(config: Config): Ports {
  return {
    clock: systemClock,
    resolver: ({ database }) => {
      const servers = config.resolvers ?? systemServers()
      const network = networkResolver({ servers, timeoutMs: config.dnsTimeoutMs })
      return config.dnsZone === 'local' ? localResolver(database.db, network) : network
    },
    scanner: clamdScanner({
      address: config.clamd,
      timeoutMs: config.scanTimeoutSeconds * 1000,
      scansAtOnce: config.scansAtOnce,
    }),
    provider: providerOf(config),
  }
}

function providerOf(config: Config): Provider {
  switch (config.provider) {
    case 'sandbox':
      return sandboxProvider({ keep: keepInFolder(join(config.varFolder, 'sandbox'), sandboxFiles) })
    case 'smarthost':
      return smarthostProvider({
        // Without one only a process that relays nothing starts, and it submits nothing.
        urls: config.smarthostUrls ?? ['smtp://127.0.0.1:25'],
        connections: config.smarthostConnections,
        perSecond: config.smarthostRatePerSecond ?? null,
        attemptTimeoutMs: config.relayAttemptSeconds * 1000,
        hostname: config.hostname,
        preset: presetOf(
          config.smarthostPreset,
          webhooksOf(config).some(each => each.name === config.smarthostPreset),
        ),
        dsnSuccess: config.smarthostDsnSuccess,
      })
    case 'ses':
      return sesProvider({
        // readConfig lets nobody start without one.
        region: config.sesRegion ?? '',
        configurationSet: config.sesConfigurationSet ?? null,
        perSecond: config.sesRatePerSecond ?? null,
        bringsNews: (config.sesTopicArn ?? config.sesQueueUrl) !== undefined,
        endpoint: config.sesEndpoint,
      })
    default:
      return config.provider satisfies never
  }
}

/** How providers bring news by HTTP: all whose secret is known, so that late ones of a former provider count too. */
function webhooksOf(config: Config): readonly ProviderWebhook[] {
  const { postmarkToken, mailgunSigningKey, sendgridPublicKey, brevoToken, sesTopicArn } = config
  return [
    ...(postmarkToken ? [postmarkWebhook(postmarkToken)] : []),
    ...(mailgunSigningKey ? [mailgunWebhook(mailgunSigningKey)] : []),
    ...(sendgridPublicKey ? [sendgridWebhook(sendgridPublicKey)] : []),
    ...(brevoToken ? [brevoWebhook(brevoToken)] : []),
    ...(sesTopicArn ? [sesWebhook({ topicArn: sesTopicArn, get: getText })] : []),
  ]
}

function zonesOf(config: Config, db: Db, clock: Clock): DnsZone | null {
  const { dnsZone, cloudflareToken = '', powerDnsUrl = '', powerDnsKey = '' } = config
  switch (dnsZone) {
    case 'local':
      return localZone(db, clock)
    case 'cloudflare':
      return cloudflareZones({ token: cloudflareToken })
    case 'powerdns':
      return powerDnsZones({ url: powerDnsUrl, key: powerDnsKey, clock, turns: databaseTurns(db, clock) })
    case undefined:
      return null
    default:
      return dnsZone satisfies never
  }
}

function pauseLimits(config: Config): PauseLimits {
  return {
    bouncePercent: config.pauseBounceRate,
    complaintPercent: config.pauseComplaintRate,
    leastSent: config.pauseLeastEmails,
    windowMs: config.pauseWindowHours * 3_600_000,
  }
}

/** What the features of the HTTP door stand on. */
export interface HttpFeatureParts {
  readonly domains: DomainsUse
  readonly sending: Sending
  readonly inbox: InboxUse
  readonly requestLog: RequestLog
  readonly webhooks: readonly ProviderWebhook[]
  readonly log: Log
  /** Where clients reach us, without a final slash. */
  readonly publicUrl: string
}

/** All routes of the HTTP door but its own, one instance a feature: what runs, and what the API's description is made of. */
export function httpFeatures(parts: HttpFeatureParts): readonly AnyElysia[] {
  const { domains, sending, inbox, requestLog, publicUrl, webhooks, log } = parts
  const { db, clock } = domains
  const unsent: DomainBlockers = async (tx, domainId) => {
    const count = await countUnsent(tx, domainId)
    return count === 0 ? [] : [count === 1 ? '1 queued email' : `${count} queued emails`]
  }
  return [
    brandRoutes({ db, clock }),
    memberRoutes({ db, clock }),
    invitationRoutes({ db, clock, publicUrl }),
    invitationLinkRoutes({ db, clock }),
    domainRoutes(domains, unsent),
    dnsRoutes(domains),
    mailboxRoutes(domains),
    emailRoutes(sending),
    suppressionRoutes({ db, clock }),
    unsubscribeRoutes({ db, clock }),
    providerRoutes({ db, clock, webhooks, log }),
    inboxRoutes(inbox),
    replyRoutes({ ...inbox, sending }),
    templateRoutes({ db, clock, rendering: sending.rendering }),
    draftRoutes(sending, receivedMessages(inbox)),
    requestRoutes({ db, requestLog }),
  ]
}

/** Puts the parts together and starts the roles of this process. What it started ends in the opposite order. */
export async function wire(config: Config, log: Log, ports: Ports, secrets: Secrets): Promise<Running> {
  const ends: (() => unknown)[] = []
  const stop = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end()
  }
  try {
    return { ...(await start(config, log, ports, secrets, ends)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Ends = (() => unknown)[]

async function start(
  config: Config,
  log: Log,
  ports: Ports,
  secrets: Secrets,
  ends: Ends,
): Promise<Omit<Running, 'stop'>> {
  const { clock, scanner } = ports
  const returnPaths = returnPathsOf(secrets)
  const ownName = canonicalDomain(config.hostname)
  const isRole = (role: Config['roles'][number]) => config.roles.includes(role)
  const pool = () => {
    const database = openDatabase(config.databaseUrl, config.databaseConnections)
    ends.push(() => database.close())
    return database
  }
  const shared = pool()
  const resolver = ports.resolver({ database: shared })
  const canary = openCanary(resolver, config.dnsCanary ?? config.hostname)
  const bounces = { returnPaths, hostname: ownName ?? config.hostname }
  const provider = withSimulator(ports.provider, {
    clock,
    log,
    takeMail: simulatedReportTaker({ db: shared.db, clock, log, bounces }),
    takeNews: news => recordNews({ db: shared.db, clock }, 'simulator', news),
  })
  ends.push(() => provider.close())

  const metrics = openMetricsDoor(config.metricsListen)
  ends.push(() => metrics.close())

  let wake: () => void = () => undefined
  if (isRole('relay')) {
    const { db } = pool()
    const relay = startRelay({
      db,
      blobs: mysqlBlobs(db, clock),
      provider,
      signingKeys: openSigning(secrets),
      reversePaths: { returnPaths, findHosts: verifiedReturnPaths, ownHost: ownName },
      clock,
      log,
      attemptMs: config.relayAttemptSeconds * 1000,
      retryFirstMs: config.retryFirstSeconds * 1000,
    })
    ends.push(() => relay.stop())
    wake = () => relay.wake()
    const pausing = startPausing({ db: shared.db, clock, log, limits: pauseLimits(config) })
    ends.push(() => pausing.stop())
    if (config.sesQueueUrl) ends.push(startSesQueue(config.sesQueueUrl))
  }

  const http = isRole('http') ? startHttp() : null
  const smtp = isRole('smtp') ? await startSmtp() : null
  return { http: http?.url ?? null, smtp, metrics: `${config.metricsListen.host}:${metrics.port}` }

  function startSesQueue(queueUrl: string): () => Promise<void> {
    const queue = sesQueue({ queueUrl, region: config.sesRegion ?? '', clock, log })
    const failure = 'could not read the queue of a provider’s news'
    const reading = startRounds({ pauseMs: queuePauseMs, log, failure }, signal =>
      queue.bring(news => recordNews({ db: shared.db, clock }, 'ses', news), signal),
    )
    return async () => {
      await reading.stop()
      await queue.close()
    }
  }

  function startHttp() {
    const { db } = pool()
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
      identities: ports.provider.identities,
      secrets,
    }
    const rechecking = startRechecking({
      ...domains,
      db: shared.db,
      log,
      longestWaitMs: config.domainRecheckMinutes * 60_000,
      rotateDays: config.dkimRotateDays,
    })
    ends.push(() => rechecking.stop())
    const { requestLogDays } = config
    const housekeeping = startHousekeeping({ db: shared.db, clock, log, requestLogDays, pauseMs: housekeepingMs })
    ends.push(() => housekeeping.stop())
    const clearing = startRounds({ pauseMs: housekeepingMs, log, failure: 'old suppressions stayed' }, async () =>
      (await forgetSuppressions({ db: shared.db, clock }, clearedAtOnce)) === clearedAtOnce ? 'more' : 'done',
    )
    ends.push(() => clearing.stop())
    const forgetting = startRounds(
      { pauseMs: housekeepingMs, log, failure: 'old tokens of providers stayed' },
      async () => ((await forgetTokens({ db: shared.db, clock }, clearedAtOnce)) === clearedAtOnce ? 'more' : 'done'),
    )
    ends.push(() => forgetting.stop())
    const requestLog = openRequestLog(shared.db, log)
    ends.push(() => requestLog.close())
    const texts = openTextWorker()
    ends.push(() => texts.close())
    const sending = openSending({
      db,
      blobs,
      clock,
      provider: provider.traits.name,
      publicUrl: config.publicUrl,
      unconfirmedMs: config.unconfirmedHours * 3_600_000,
      wake: () => wake(),
    })
    ends.push(() => sending.rendering.close())
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
      }),
      requestLog,
      mcp: {
        names: [config.hostname, new URL(config.publicUrl).hostname, config.httpListen.host],
        origins: config.mcpOrigins ?? [],
      },
      log,
      clock,
      readiness: checkReadiness({ config, db: shared.db, canary, scanner, provider, zone, clock }),
    })
    ends.push(() => door.close())
    const indexing = startIndexing({ db: shared.db, blobs: mysqlBlobs(shared.db, clock), texts, log })
    ends.push(() => indexing.stop())
    return door
  }

  async function startSmtp() {
    const { db } = pool()
    const blobs = mysqlBlobs(db, clock)
    const checking = { resolver, hostname: config.hostname, messageTimeoutMs: config.dnsMessageSeconds * 1000 }
    const heavy = openHeavyWorkers({ ...checking, count: heavyThreads })
    ends.push(() => heavy.close())
    const wayIn = openWayIn({
      db,
      blobs,
      ...bySize(mailauthAuthenticator(checking), heavy),
      canary,
      scanner,
      scanWaitMs: config.scanWaitSeconds * 1000,
      policy: { dmarcReject: config.dmarcReject, unscanned: config.unscanned },
      postmaster: config.postmaster,
      bounces,
      log,
    })
    const rescanning = startRescanning({ db: shared.db, blobs: mysqlBlobs(shared.db, clock), scanner, clock, log })
    ends.push(() => rescanning.stop())
    const door = await openSmtpDoor({ config, wayIn, log, clock, spoolFolder: join(config.varFolder, 'spool') })
    ends.push(() => door.close())
    return `${door.address.host}:${door.address.port}`
  }
}
