import { systemClock, toIso } from '../../src/base/clock.ts'

/** A record as in Cloudflare's API. */
export interface CloudflareRecord {
  id: string
  type: string
  name: string
  content: string
  ttl: number
  priority?: number
  proxied: boolean
  comment: string | null
  tags: readonly string[]
  created_on: string
  modified_on: string
}

export interface CloudflareZoneOptions {
  readonly status?: string
  readonly type?: string
}

interface StoredZone {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly type: string
  readonly records: CloudflareRecord[]
}

export interface CloudflareRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
}

type Failure = (request: CloudflareRequest) => Response | Promise<Response> | undefined

/**
 * A server that implements Cloudflare's documented API for zones and DNS records: pages, the response envelope with error
 * codes, filters by name, and which records may coexist.
 */
export interface TestCloudflare {
  readonly url: string
  readonly token: string
  /** All requests. May be emptied. */
  readonly requests: CloudflareRequest[]
  addZone(name: string, options?: CloudflareZoneOptions): void
  /** Adds a record to a zone, as its owner would in the dashboard. */
  addRecord(zone: string, record: Partial<CloudflareRecord> & Pick<CloudflareRecord, 'type' | 'name' | 'content'>): void
  recordsOf(zone: string): readonly CloudflareRecord[]
  /** Sets a function that may give the response instead; undefined: none. */
  failWith(failure: Failure | undefined): void
  close(): Promise<void>
}

export function cloudflareError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ result: null, success: false, errors: [{ code, message }], messages: [] }, { status, headers })
}

/** @param mostPerPage the most records of a page, whatever the request asks for */
export function startCloudflare({ mostPerPage = 3 } = {}): TestCloudflare {
  const token = `token-${crypto.randomUUID()}`
  const zones: StoredZone[] = []
  const requests: CloudflareRequest[] = []
  let failure: Failure | undefined

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const path = url.pathname.replace('/client/v4', '')
      const question = { method: request.method, path, query: url.searchParams }
      requests.push(question)
      const failed = await failure?.(question)
      if (failed) return failed
      if (request.headers.get('authorization') !== `Bearer ${token}`)
        return cloudflareError(403, 9109, 'Invalid access token')
      const [, zoneId, recordId] = /^\/zones(?:\/([^/]+)\/dns_records(?:\/([^/]+))?)?$/.exec(path) ?? []
      if (zoneId === undefined) return listZones(url.searchParams)
      const zone = zones.find(zone => zone.id === zoneId)
      if (!zone)
        return cloudflareError(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`)
      const body = request.method === 'GET' || request.method === 'DELETE' ? {} : await request.json()
      return answer(zone, recordId, question, body as Partial<CloudflareRecord>)
    },
  })

  function listZones(query: URLSearchParams): Response {
    const matching = zones.filter(
      zone => (query.get('name') ?? zone.name) === zone.name && (query.get('status') ?? zone.status) === zone.status,
    )
    return page(
      matching.map(({ records: _, ...zone }) => zone),
      query,
      50,
    )
  }

  function answer(
    zone: StoredZone,
    id: string | undefined,
    request: CloudflareRequest,
    body: Partial<CloudflareRecord>,
  ) {
    if (id === undefined) return request.method === 'POST' ? create(zone, body) : list(zone, request.query)
    const index = zone.records.findIndex(record => record.id === id)
    const record = zone.records[index]
    if (!record) return cloudflareError(404, 81044, 'Record does not exist.')
    if (request.method === 'DELETE') zone.records.splice(index, 1)
    if (request.method !== 'PATCH') return success(record)
    const changed = { ...record, ...body, comment: body.comment || null, modified_on: toIso(systemClock.now()) }
    const refused = refuse(zone, changed)
    if (refused) return refused
    zone.records[index] = changed
    return success(changed)
  }

  function create(zone: StoredZone, body: Partial<CloudflareRecord>): Response {
    const record = whole(body)
    const refused = refuse(zone, record)
    if (refused) return refused
    zone.records.push(record)
    return success(record)
  }

  function list(zone: StoredZone, query: URLSearchParams): Response {
    const exact = query.get('name.exact')?.toLowerCase()
    const end = query.get('name.endswith')?.toLowerCase() ?? ''
    const matching = zone.records.filter(({ name }) => (exact ?? name) === name && name.endsWith(end))
    return page(matching, query, mostPerPage)
  }

  return {
    url: `http://127.0.0.1:${server.port}/client/v4`,
    token,
    requests,
    addZone: (name, { status = 'active', type = 'full' } = {}) =>
      zones.push({ id: crypto.randomUUID().replaceAll('-', ''), name, status, type, records: [] }),
    addRecord: (name, record) => zones.find(zone => zone.name === name)?.records.push(whole(record)),
    recordsOf: name => zones.find(zone => zone.name === name)?.records ?? [],
    failWith: next => {
      failure = next
    },
    close: () => server.stop(true),
  }
}

function whole(record: Partial<CloudflareRecord>): CloudflareRecord {
  const now = toIso(systemClock.now())
  const { type = '', name = '', content = '', comment } = record
  return {
    ttl: 1,
    proxied: false,
    tags: [],
    created_on: now,
    modified_on: now,
    ...record,
    id: crypto.randomUUID().replaceAll('-', ''),
    type,
    name: name.toLowerCase(),
    content,
    comment: comment ?? null,
  }
}

const addresses: readonly string[] = ['A', 'AAAA']

function refuse(zone: StoredZone, record: CloudflareRecord): Response | undefined {
  const siblings = zone.records.filter(sibling => sibling.name === record.name && sibling.id !== record.id)
  if (record.ttl !== 1 && (record.ttl < 60 || record.ttl > 86_400)) return cloudflareError(400, 9021, 'Invalid TTL.')
  if (record.type === 'TXT' && !/^("(?:[^"\\]|\\[\s\S]){0,1020}" ?)+$/.test(record.content))
    return cloudflareError(400, 9009, 'Content for TXT record must be in quotes.')
  const isHost = addresses.includes(record.type)
  if (record.type === 'CNAME' && siblings.some(sibling => sibling.type === 'CNAME' || addresses.includes(sibling.type)))
    return cloudflareError(400, 81053, 'An A, AAAA, or CNAME record with that host already exists.')
  if (isHost && siblings.some(sibling => sibling.type === 'CNAME'))
    return cloudflareError(400, 81054, 'A CNAME record with that host already exists.')
  const isTwin = ({ type, content, priority }: CloudflareRecord) =>
    type === record.type && content === record.content && priority === record.priority
  return siblings.some(isTwin) ? cloudflareError(400, 81058, 'An identical record already exists.') : undefined
}

function success(result: unknown): Response {
  return Response.json({ result, success: true, errors: [], messages: [] })
}

function page(found: readonly unknown[], query: URLSearchParams, most: number): Response {
  const perPage = Math.min(Number(query.get('per_page') ?? 20), most)
  const number = Number(query.get('page') ?? 1)
  const result = found.slice((number - 1) * perPage, number * perPage)
  const info = { page: number, per_page: perPage, count: result.length, total_count: found.length }
  return Response.json({ result, success: true, errors: [], messages: [], result_info: info })
}
