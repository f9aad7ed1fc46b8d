import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyElysia } from 'elysia'
import pino from 'pino'
import { brandRoutes } from '../../src/accounts/brands/routes.ts'
import { createKey } from '../../src/accounts/keys/keys.ts'
import { createOrganization } from '../../src/accounts/organizations/organizations.ts'
import { requestRoutes } from '../../src/accounts/request-log/routes.ts'
import { openRequestLog } from '../../src/accounts/request-log/writer.ts'
import { openSessionAuthenticator } from '../../src/accounts/sessions/authenticate.ts'
import { managesMembers, type Scope, scopes } from '../../src/api/scope.ts'
import { type Clock, type Instant, instantAt, plusMs } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import type { Readiness } from '../../src/health/readiness/readiness.ts'
import { openHttpServer } from '../../src/servers/http/server.ts'
import { openClientLimits } from '../../src/servers/limits/client-limits.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { validateResponse } from './openapi-validation.ts'

/** A running clock that can be moved forward. */
export interface TestClock extends Clock {
  forward(ms: number): void
}

export function testClock(): TestClock {
  let aheadMs = 0
  let last = 0
  return {
    now() {
      last = Math.max(last + 1, (Date.now() + aheadMs) * 1000)
      return instantAt(last)
    },
    forward(ms) {
      aheadMs += ms
    },
  }
}

export interface TestHttpServer {
  readonly url: string
  readonly port: number
  readonly database: FreshDatabase
  readonly varFolder: string
  readonly clock: TestClock
  readonly organizationId: Id<'org'>
  /** An organization-wide key with every scope. */
  readonly key: string
  /** The log lines of level warn and above, as JSON. */
  readonly logged: readonly string[]
  newKey(options?: {
    scopes?: readonly Scope[]
    brandId?: string | null
    expiresAt?: Instant | null
    organizationId?: Id<'org'>
    /** The member who creates the key; absent: the operator. */
    makerId?: Id<'mem'>
  }): Promise<{ id: Id<'key'>; key: string }>
  newOrganization(): Promise<Id<'org'>>
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>
  close(): Promise<void>
}

export interface CallOptions {
  /** Another key; null: none. */
  readonly key?: string | null
  /** Sent as JSON. */
  readonly json?: unknown
  readonly body?: string | Uint8Array | ReadableStream
  readonly headers?: Record<string, string>
}

export interface CallResult {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
}

/** Starts the real HTTP server on a database of its own, with an organization and a key. */
export async function openTestHttpServer(
  options: {
    features?: (server: { database: FreshDatabase; clock: Clock; url: string }) => readonly AnyElysia[]
    ratePerMinute?: number
    authFailuresPerMinute?: number
    trustedProxies?: readonly string[]
    publicUrl?: string
    /** Where the built files of the dashboard are; absent: they have not been built. */
    dashboardFolder?: string
    readiness?: Readiness
  } = {},
): Promise<TestHttpServer> {
  const varFolder = mkdtempSync(join(tmpdir(), 'mailroom-'))
  const database = await freshDatabase()
  const { db } = database
  const clock = testClock()
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: line => void logged.push(line) })
  const requestLog = openRequestLog(db, log)
  const server = openHttpServer({
    config: {
      httpListen: { host: '127.0.0.1', port: 0 },
      varFolder,
      trustedProxies: options.trustedProxies,
      publicUrl: options.publicUrl,
    },
    db,
    sessionAuthenticator: openSessionAuthenticator(db, clock),
    dashboardFolder: options.dashboardFolder ?? varFolder,
    features: url => [
      brandRoutes({ db, clock }),
      requestRoutes({ db, requestLog }),
      ...(options.features?.({ database, clock, url }) ?? []),
    ],
    requestLog,
    clientLimits: openClientLimits(
      {
        ratePerMinute: options.ratePerMinute ?? 1_000_000,
        authFailuresPerMinute: options.authFailuresPerMinute ?? 1_000_000,
      },
      clock,
    ),
    mcp: { names: [], origins: [] },
    log,
    clock,
    readiness: options.readiness ?? (async () => ({ database: { ready: true, detail: null } })),
  })
  const { id: organizationId } = await createOrganization(db, { name: 'Test', plan: 'unlimited' }, clock)

  const newKey: TestHttpServer['newKey'] = (options = {}) =>
    createKey(
      db,
      {
        organizationId: options.organizationId ?? organizationId,
        brandId: (options.brandId ?? null) as Id<'brd'> | null,
        name: 'test',
        scopes: options.scopes ?? (options.brandId ? scopes.filter(scope => !managesMembers(scope)) : scopes),
        expiresAt: options.expiresAt ?? null,
        ...(options.makerId && { makerId: options.makerId }),
      },
      clock,
    )
  const { key } = await newKey()

  return {
    url: server.url,
    port: server.port,
    database,
    varFolder,
    clock,
    organizationId,
    key,
    logged,
    newKey,
    newOrganization: async () => (await createOrganization(db, { name: 'Other', plan: 'unlimited' }, clock)).id,
    async call(method, path, options = {}) {
      const headers = new Headers(options.headers)
      if (options.key !== null && !headers.has('authorization'))
        headers.set('authorization', `Bearer ${options.key ?? key}`)
      if (options.json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
      const body = options.json === undefined ? options.body : JSON.stringify(options.json)
      const response = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }) })
      const text = await response.text()
      validateResponse({ method, path, status: response.status, headers: response.headers, text })
      let json: unknown
      try {
        json = JSON.parse(text)
      } catch {
        // Not JSON.
      }
      return { status: response.status, headers: response.headers, text, json }
    },
    async close() {
      await server.close({ graceMs: 1000, longestMs: 1000 })
      await requestLog.close()
      await database.close()
      rmSync(varFolder, { recursive: true, force: true })
    },
  }
}

/** The instant `ms` after the clock's current one. */
export function inMs(clock: Clock, ms: number): Instant {
  return plusMs(clock.now(), ms)
}
