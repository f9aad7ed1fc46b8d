import { sql } from 'kysely'
import { createKey } from '../../accounts/keys/keys.ts'
import { createOrganization } from '../../accounts/organizations/organizations.ts'
import type { BrandTenant } from '../../api/tenant.ts'
import { systemClock } from '../../base/clock.ts'
import { type Db, openDatabase } from '../../base/database/database.ts'
import { migrate } from '../../base/database/migrate.ts'
import { openTextWorker } from '../../inbox/text-worker/text-worker.ts'
import { defaultScopes } from '../key.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, median } from './figure.ts'
import { fillStore, wordOfRank } from './fill-store.ts'
import { startMailroom } from './processes.ts'

const smallSize = 10_000
const sizes = [100_000, 500_000]
const smallOrganizations = 20
const repetitions = 21
const common = [0, 1, 2].map(wordOfRank)

/** The requests by their names. Each is made for the organization that has half of all messages, and for a small one. */
const requestPaths = {
  list: {
    'first page': '/v1/inbox',
    'page of 200': '/v1/inbox?limit=200',
    'page of another folder': '/v1/inbox?folder=archive',
  },
  search: {
    'rare word': search('haystack'),
    'word of one in a hundred': search(wordOfRank(60)),
    'common word': search(`${common[0]}`),
    'common words': search(common.join(' ')),
    phrase: search('"please find attached the invoice"'),
    'phrase of common words': search(`"${common[0]} ${common[1]}"`),
    exclusion: search(`${common[1]} -${common[0]}`),
    'word that is nowhere': search('absent'),
    Chinese: search('合同项'),
  },
} as const

function search(query: string): string {
  return `/v1/inbox/search?q=${encodeURIComponent(query)}`
}

export type PageKind = keyof typeof requestPaths

interface TenantWithKey extends BrandTenant {
  readonly key: string
}

/** A Mailroom with its own database on the server of the environment. */
interface Store {
  /** The first has half of all messages. */
  readonly tenants: readonly TenantWithKey[]
  readonly url: string
  fillTo(size: number): Promise<void>
  peakBytes(): number
  close(): Promise<void>
}

/**
 * Pages of the inbox and searches with 100,000 and 500,000 messages stored, half of them in one organization and the rest in
 * twenty. The limit is the rate of the same request with 10,000 messages; the two take turns.
 */
export async function measureListAndSearch(
  environment: BenchEnvironment,
  kinds: readonly PageKind[],
): Promise<Figure[]> {
  const [small, large] = [await openStore(environment, 'small_store'), await openStore(environment, 'large_store')]
  const figures: Figure[] = []
  try {
    await small.fillTo(smallSize)
    for (const size of sizes) {
      const startedAt = performance.now()
      await large.fillTo(size)
      process.stderr.write(
        `  ${size} messages, after ${((performance.now() - startedAt) / 1000).toFixed()} s of filling\n`,
      )
      for (const request of requestsOf(kinds)) figures.push(await measureRequest(request, size, small, large))
    }
  } finally {
    await small.close()
    await large.close()
  }
  return figures
}

async function openStore({ databaseUrl, env }: BenchEnvironment, name: string): Promise<Store> {
  const url = new URL(databaseUrl)
  const server = openDatabase(databaseUrl, 1)
  await sql`create database ${sql.id(name)}`.execute(server.db)
  await server.close()
  url.pathname = `/${name}`
  const { db, close } = openDatabase(url.href, 4)
  await migrate(db)
  const tenants: TenantWithKey[] = []
  for (let i = 0; i <= smallOrganizations; i++) tenants.push(await createTenant(db, i))
  const texts = openTextWorker({ timeoutMs: 120_000 })
  const mailroom = await startMailroom({ ...env, MAILROOM_DATABASE_URL: url.href, MAILROOM_ROLES: 'http' })
  const deps = { db, texts, tenants, at: systemClock.now() }
  let filled = 0
  return {
    tenants,
    url: `http://127.0.0.1:${mailroom.http}`,
    async fillTo(size) {
      await fillStore(deps, filled, size)
      filled = size
    },
    peakBytes: () => mailroom.peakBytes(),
    async close() {
      await mailroom.stop()
      texts.close()
      await close()
    },
  }
}

interface PageRequest {
  readonly name: string
  readonly path: string
  /** The index of the tenant that makes it. */
  readonly tenant: number
}

async function measureRequest(request: PageRequest, size: number, small: Store, large: Store): Promise<Figure> {
  const smallTimes: number[] = []
  const largeTimes: number[] = []
  for (let i = 0; i <= repetitions; i++) {
    const [smallMs, largeMs] = [await responseMs(request, small), await responseMs(request, large)]
    // The first request to each is the warm-up.
    if (i === 0) continue
    smallTimes.push(smallMs)
    largeTimes.push(largeMs)
  }
  const limits = { [`with ${smallSize} messages`]: 1000 / median(smallTimes) }
  const measured = { rate: 1000 / median(largeTimes), limits, peakBytes: large.peakBytes() }
  return figure(`${request.name}, ${size} messages`, 0.5, measured)
}

/** The time to the end of one response, in milliseconds. */
async function responseMs({ path, tenant }: PageRequest, { url, tenants }: Store): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${tenants[tenant]?.key}` } })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${path} gave ${response.status}`)
  return performance.now() - startedAt
}

function requestsOf(kinds: readonly PageKind[]): readonly PageRequest[] {
  const tenants = ['large organization', 'small organization']
  return kinds.flatMap(kind =>
    Object.entries(requestPaths[kind]).flatMap(([request, path]) =>
      tenants.map((name, tenant) => ({ name: `${kind}, ${request}, ${name}`, path, tenant })),
    ),
  )
}

async function createTenant(db: Db, number: number): Promise<TenantWithKey> {
  const { id: organizationId } = await createOrganization(
    db,
    { name: `bench ${number}`, plan: 'unlimited' },
    systemClock,
  )
  const request = { organizationId, brandId: null, name: 'bench', scopes: defaultScopes, expiresAt: null }
  const { key } = await createKey(db, request, systemClock)
  return { organizationId, brandId: `brd_${organizationId.slice(4)}`, key }
}
