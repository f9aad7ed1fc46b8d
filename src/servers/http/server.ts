import { join } from 'node:path'
import { type AnyElysia, Elysia } from 'elysia'
import { openKeyAuthenticator } from '../../accounts/keys/keys.ts'
import type { RequestLog } from '../../accounts/request-log/writer.ts'
import type { SessionAuthenticator } from '../../accounts/sessions/authenticate.ts'
import { openIdempotencyKeys } from '../../api/idempotency/idempotency-keys.ts'
import { operationsOf } from '../../api/operations.ts'
import type { Clock } from '../../base/clock.ts'
import type { Config, Endpoint } from '../../base/config/config.ts'
import type { Db } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Readiness } from '../../health/readiness/readiness.ts'
import type { Certificates } from '../../ports/certificates/port.ts'
import type { ClientLimits } from '../limits/client-limits.ts'
import { protectedResourceRoutes } from '../mcp/protected-resource.ts'
import { type McpDeps, mcpRoutes } from '../mcp/routes.ts'
import { createTools } from '../mcp/tools.ts'
import { clientAddressReader } from './client-address.ts'
import { openStaticFiles } from './dashboard/static-files.ts'
import { healthRoutes } from './health-routes.ts'
import { readLargeHeaders } from './limits/header-size.ts'
import { createOpenApiDocument } from './openapi/document.ts'
import examples from './openapi/examples.json'
import { openApiRoutes } from './openapi/routes.ts'
import { openRequestPipeline } from './request-pipeline.ts'
import { type HttpDrainTimes, newRequestsUnderWay, stopListener } from './requests-under-way.ts'
import { openResponseBuffer } from './response-buffer.ts'
import { allowedMethods } from './routing/allowed-methods.ts'
import { readTarget } from './routing/request-target.ts'
import { routeTemplates } from './routing/route-template.ts'
import { openTlsListener } from './tls-listener.ts'

/** What the HTTP server depends on. */
export interface HttpServerDeps {
  readonly config: Pick<Config, 'httpListen' | 'varFolder' | 'trustedProxies' | 'publicUrl'>
  /** The pool of the HTTP role. */
  readonly db: Db
  /**
   * Opens the routes, one Elysia instance a feature (api/route.ts). Routes outside /v1 need no key.
   * @param url where the server listens, for a client of this machine
   */
  readonly features: (url: string) => readonly AnyElysia[]
  readonly sessionAuthenticator: SessionAuthenticator
  /** Where the built files of the dashboard are; see dashboard/manifest.ts. */
  readonly dashboardFolder: string
  readonly requestLog: RequestLog
  readonly clientLimits: ClientLimits
  readonly log: Log
  readonly clock: Clock
  readonly readiness: Readiness
  /** Where to serve the same over HTTPS, and with which certificates. */
  readonly https?: { readonly listen: Endpoint; readonly certificates: Certificates } | undefined
  readonly mcp: Pick<McpDeps, 'names' | 'origins'>
  /** Do other processes listen on the same ports (SO_REUSEPORT)? */
  readonly sharesPorts?: boolean
}

/** A running HTTP server. */
export interface HttpServer {
  /** Without a final slash. */
  readonly url: string
  /** The URL over HTTPS; null: it is not served over HTTPS. */
  readonly tlsUrl: string | null
  readonly port: number
  /** Accepts no more connections, lets the requests under way finish as {@link RequestsUnderWay} says, and closes all. */
  close(times?: HttpDrainTimes): Promise<void>
}

/** How long a connection may be silent, also while its request is processed, in seconds. */
const idleSeconds = 200

/** Starts the HTTP server: the routes of `features`, MCP, `/health`, `/ready` and the OpenAPI document. Port 0 takes a free one. */
export function openHttpServer(deps: HttpServerDeps): HttpServer {
  const { config, db, log, clock, sharesPorts = false } = deps
  readLargeHeaders()
  // Bound first, since links of the features carry the port. No request comes before this function has returned.
  const server = Bun.serve({
    hostname: config.httpListen.host,
    port: config.httpListen.port,
    reusePort: sharesPorts,
    idleTimeout: idleSeconds,
    development: false,
    // The routes limit bodies, with an error body of ours; Bun would answer an empty 413 before anything else.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request, listener) => fetch(request, listener),
  })
  const { port = config.httpListen.port } = server
  const authenticator = openKeyAuthenticator(db, clock)
  const idempotencyKeys = openIdempotencyKeys(db, clock, log)
  const app = createRoutes({
    features: deps.features(`http://${reachableHost(config.httpListen.host)}:${port}`),
    readiness: deps.readiness,
    publicUrl: config.publicUrl,
  })
  const tools = once(() => createTools(operationsOf(app)))
  app.use(mcpRoutes({ ...deps.mcp, tools, dispatch: request => app.fetch(request), idempotencyKeys, log }))
  const respond = openRequestPipeline({
    authenticator,
    sessionAuthenticator: deps.sessionAuthenticator,
    idempotencyKeys,
    requestLog: deps.requestLog,
    clock,
    log,
    clientLimits: deps.clientLimits,
    publicUrl: config.publicUrl,
    dispatch: app.fetch,
    staticFiles: openStaticFiles(deps.dashboardFolder, log),
    bufferResponse: openResponseBuffer(join(config.varFolder, 'downloads')),
    allowedMethods: allowedMethods(app.routes),
    routeTemplate: routeTemplates(app.routes),
  })
  const readAddress = clientAddressReader(config.trustedProxies ?? [])
  const underWay = newRequestsUnderWay()
  const fetch = (request: Request, listener: Bun.Server<undefined>) => {
    const target = readTarget(request)
    const getAddress = () => readAddress(listener.requestIP(request)?.address ?? 'unknown', request.headers)
    return underWay.add(target.request, respond(target, getAddress))
  }
  const tls = deps.https && openTlsListener({ ...deps.https, idleSeconds, fetch, log, sharesPort: sharesPorts })
  return {
    url: `http://${hostInUrl(config.httpListen.host)}:${port}`,
    tlsUrl: deps.https && tls ? `https://${hostInUrl(deps.https.listen.host)}:${tls.port}` : null,
    port,
    async close(times) {
      const drained = underWay.drained(times)
      await Promise.all([tls?.close(drained), stopListener(server, drained)])
      idempotencyKeys.close()
      await authenticator.close()
    },
  }
}

/** All routes but MCP, which needs the others. */
export function createRoutes({
  features,
  readiness,
  publicUrl,
}: {
  readonly features: readonly AnyElysia[]
  readonly readiness: Readiness
  /** MAILROOM_PUBLIC_URL */
  readonly publicUrl?: string | undefined
}): AnyElysia {
  // Otherwise Elysia looks for the path from the 11th character on, which is too late for a host of one letter.
  const app = new Elysia({ name: 'mailroom', normalize: false, strictPath: true, handler: { standardHostname: false } })
    // The request pipeline turns errors into responses, all of them in one place.
    .onError(({ error }) => {
      throw error
    })
    .use(healthRoutes(readiness))
    .use(protectedResourceRoutes(publicUrl))
  for (const feature of features) app.use(feature)
  return app.use(openApiRoutes(() => createOpenApiDocument(app, examples)))
}

function once<Value>(create: () => Value): () => Value {
  let created: { readonly value: Value } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}

/** The host for a URL of this machine, also where the server listens on all addresses. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '[::1]' : hostInUrl(host)
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
