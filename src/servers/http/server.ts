import { join } from 'node:path'
import { type AnyElysia, Elysia } from 'elysia'
import { openKeyAuthenticator } from '../../accounts/keys/keys.ts'
import type { RequestLog } from '../../accounts/request-log/writer.ts'
import { openIdempotencyKeys } from '../../api/idempotency/idempotency-keys.ts'
import { operationsOf } from '../../api/operations.ts'
import type { Clock } from '../../base/clock.ts'
import type { Config, Endpoint } from '../../base/config/config.ts'
import type { Db } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Readiness } from '../../health/readiness/readiness.ts'
import type { Certificates } from '../../ports/certificates/port.ts'
import { type McpDeps, mcpRoutes } from '../mcp/routes.ts'
import { createTools } from '../mcp/tools.ts'
import { allowedMethods } from './allowed-methods.ts'
import { clientAddressReader } from './client-address.ts'
import { healthRoutes } from './health-routes.ts'
import { createOpenApiDocument } from './openapi/document.ts'
import examples from './openapi/examples.json'
import { openApiRoutes } from './openapi/routes.ts'
import { openRequestPipeline } from './request-pipeline.ts'
import { openResponseBuffer } from './response-buffer.ts'
import { routeTemplates } from './route-template.ts'
import { openTlsListener } from './tls-listener.ts'

/** What the HTTP door is made of. */
export interface HttpServerDeps {
  readonly config: Pick<
    Config,
    'httpListen' | 'varFolder' | 'ratePerMinute' | 'authFailuresPerMinute' | 'trustedProxies'
  >
  /** The pool of the HTTP role. */
  readonly db: Db
  /** The routes, one instance a feature (web/route.ts). What lies outside /v1 needs no key. */
  readonly features: readonly AnyElysia[]
  readonly requestLog: RequestLog
  readonly log: Log
  readonly clock: Clock
  readonly readiness: Readiness
  /** Where the same is served by HTTPS, and with what. */
  readonly https?: { readonly listen: Endpoint; readonly certificates: Certificates } | undefined
  readonly mcp: Pick<McpDeps, 'names' | 'origins'>
}

/** A listener that is open. */
export interface HttpServer {
  /** Without a final slash. */
  readonly url: string
  /** The same by HTTPS; null: nowhere. */
  readonly tlsUrl: string | null
  readonly port: number
  /** Takes no more requests, lets those under way end (at most `graceMs`), then cuts what is left. */
  close(graceMs?: number): Promise<void>
}

/** The longest that a connection may be silent, also while its request is worked on, in seconds. */
const idleSeconds = 200

/** Opens the HTTP API: `/v1` with what `features` bring, `/health` and `/ready`. Port 0 takes a free one. */
export function openHttpServer(deps: HttpServerDeps): HttpServer {
  const { config, db, log, clock } = deps
  const keyring = openKeyAuthenticator(db, clock)
  const heldKeys = openIdempotencyKeys(db, clock, log)
  const app = createRoutes(deps)
  const tools = once(() => createTools(operationsOf(app)))
  app.use(mcpRoutes({ ...deps.mcp, tools, dispatch: request => app.fetch(request), idempotencyKeys: heldKeys, log }))
  const answer = openRequestPipeline({
    keyring,
    idempotencyKeys: heldKeys,
    requestLog: deps.requestLog,
    clock,
    log,
    ratePerMinute: config.ratePerMinute,
    authFailuresPerMinute: config.authFailuresPerMinute,
    dispatch: app.fetch,
    bufferResponse: openResponseBuffer(join(config.varFolder, 'downloads')),
    allowedMethods: allowedMethods(app.routes),
    routeTemplate: routeTemplates(app.routes),
  })
  const addressOf = clientAddressReader(config.trustedProxies ?? [])
  const fetch = (request: Request, listener: Bun.Server<undefined>) =>
    answer(withPlainScheme(request), () =>
      addressOf(listener.requestIP(request)?.address ?? 'unknown', request.headers),
    )
  const server = Bun.serve({
    hostname: config.httpListen.host,
    port: config.httpListen.port,
    idleTimeout: idleSeconds,
    development: false,
    // Bodies are counted in the routes, where the refusal is an answer of ours; Bun's own is an empty 413 before all else.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch,
  })
  const { port = config.httpListen.port } = server
  const tls = deps.https && openTlsListener({ ...deps.https, idleSeconds, fetch, log })
  return {
    url: `http://${hostInUrl(config.httpListen.host)}:${port}`,
    tlsUrl: deps.https && tls ? `https://${hostInUrl(deps.https.listen.host)}:${tls.port}` : null,
    port,
    async close(graceMs = 10_000) {
      await Promise.all([tls?.close(graceMs), Promise.race([server.stop(), Bun.sleep(graceMs)])])
      await server.stop(true)
      heldKeys.close()
      await keyring.close()
    },
  }
}

/** All that the door answers. */
export function createRoutes({ features, readiness }: Pick<HttpServerDeps, 'features' | 'readiness'>): AnyElysia {
  // Otherwise Elysia looks for the path after the 11th character, which a host of one letter is shorter than.
  const app = new Elysia({ name: 'mailroom', normalize: false, handler: { standardHostname: false } })
    // The edge answers for errors, so that all of them are answered in one place.
    .onError(({ error }) => {
      throw error
    })
    .use(healthRoutes(readiness))
  for (const feature of features) app.use(feature)
  return app.use(openApiRoutes(() => createOpenApiDocument(app, examples)))
}

/** The routes look for the path after `http://`; with a scheme of another length they would find none. */
function withPlainScheme(request: Request): Request {
  return request.url.startsWith('https:') ? new Request(`http:${request.url.slice('https:'.length)}`, request) : request
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
