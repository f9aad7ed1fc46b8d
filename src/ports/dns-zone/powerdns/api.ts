import { DnsZoneError } from '../port.ts'

/** Where a PowerDNS server's API is, and its key. */
export interface PowerDnsAddress {
  /** Without `/api/v1`. */
  readonly url: string
  /** `api-key` in the server's configuration. */
  readonly key: string
}

export interface RrSetRecord {
  readonly content: string
  readonly disabled: boolean
}

export interface RrSetComment {
  readonly content: string
  readonly account: string
  /** Seconds since 1970. */
  readonly modified_at?: number
}

/** All records of one name and type, in zone file format; names end with a dot. */
export interface RrSet {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly records: readonly RrSetRecord[]
  readonly comments: readonly RrSetComment[]
}

/** A set as it should become; one without records is deleted, with its comments. */
export type RrSetChange = RrSet

export interface PowerDnsZone {
  /** Its form in paths. */
  readonly id: string
  readonly name: string
  readonly kind: string
}

interface ZoneContent {
  readonly rrsets: readonly RrSet[]
}

/** The requests that we make to the HTTP API of a PowerDNS authoritative server, version 4.7 or later. */
export interface PowerDnsApi {
  /** The zone of exactly this name. */
  findZone(name: string): Promise<PowerDnsZone | undefined>
  /** All sets of the zone. */
  sets(findZone: PowerDnsZone, signal?: AbortSignal): Promise<readonly RrSet[]>
  /** The sets of one name, without disabled records, so not for writing back. */
  setsAt(findZone: PowerDnsZone, name: string): Promise<readonly RrSet[]>
  /**
   * Changes all of these sets, or none.
   * @returns the server's error when they conflict with other records; undefined: they were changed
   */
  change(findZone: PowerDnsZone, changes: readonly RrSetChange[], signal: AbortSignal): Promise<string | undefined>
  /** @throws DnsZoneError when the server cannot be reached or refuses the key */
  checkAccess(): Promise<void>
}

const requestMs = 5000
const maxTries = 3
const maxResponseBytes = 64 * 1024 * 1024
const serverPath = '/api/v1/servers/localhost'

/** Every method throws a DnsZoneError when the server cannot be reached or refuses the request. */
export function powerDnsApi({ url, key }: PowerDnsAddress): PowerDnsApi {
  const base = `${url.replace(/\/+$/, '')}${serverPath}`

  async function send(path: string, signal?: AbortSignal, body?: object): Promise<Response> {
    const timeout = AbortSignal.timeout(requestMs)
    try {
      return await fetch(`${base}${path}`, {
        method: body ? 'PATCH' : 'GET',
        headers: { 'x-api-key': key, accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        // The key must not follow a redirect.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
    } catch (cause) {
      throw new DnsZoneError('PowerDNS did not respond.', undefined, { cause })
    }
  }

  /** Makes a read request, and repeats it after errors that may be temporary. Writes are made once, see {@link change}. */
  async function read<Body>(path: string, signal?: AbortSignal): Promise<Body> {
    for (let attempt = 1; ; attempt++) {
      const response = await send(path, signal).catch((error: unknown) => error)
      if (response instanceof Response && response.ok) return (await readJson(response)) as Body
      const error = response instanceof Response ? await zoneErrorOf(response) : response
      const isTemporary = !(response instanceof Response) || response.status >= 500
      if (!isTemporary || attempt === maxTries || signal?.aborted) throw error
      await Bun.sleep(100 * 3 ** attempt * Math.random())
    }
  }

  const pathOf = ({ id }: PowerDnsZone) => `/zones/${id}`
  return {
    findZone: async name =>
      (await read<readonly PowerDnsZone[]>(`/zones?dnssec=false&zone=${encodeURIComponent(`${name}.`)}`)).find(
        zone => zone.name.toLowerCase() === `${name}.`,
      ),
    sets: async (zone, signal) => (await read<ZoneContent>(pathOf(zone), signal)).rrsets,
    setsAt: async (zone, name) => {
      const { rrsets } = await read<ZoneContent>(`${pathOf(zone)}?rrset_name=${encodeURIComponent(`${name}.`)}`)
      // PowerDNS 4.7 also returns an empty set for each other name that has comments.
      return rrsets.filter(set => set.name.toLowerCase() === `${name}.`)
    },
    change: async (zone, changes, signal) => {
      const rrsets = changes.map(change => ({
        ...(change.records.length > 0 ? change : { name: change.name, type: change.type }),
        changetype: change.records.length > 0 ? 'REPLACE' : 'DELETE',
      }))
      const response = await send(pathOf(zone), signal, { rrsets })
      if (response.ok) return undefined
      const message = await errorMessageOf(response)
      if (response.status === 422 && /conflict|already exists|duplicate/i.test(message)) return message
      throw toZoneError(response, message)
    },
    checkAccess: async () => void (await read('')),
  }
}

async function zoneErrorOf(response: Response): Promise<DnsZoneError> {
  return toZoneError(response, await errorMessageOf(response))
}

function toZoneError({ status, headers }: Response, message: string): DnsZoneError {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfter = seconds >= 0 ? Math.ceil(seconds) : undefined
  if (status === 401 || status === 403) return new DnsZoneError('PowerDNS refused our API key.')
  if (status === 429) return new DnsZoneError('PowerDNS is rate limiting our requests.', retryAfter)
  return new DnsZoneError(`PowerDNS responded with status ${status}${message === '' ? '' : `: ${message}`}`, retryAfter)
}

/** The server's own error message, shortened; empty when there is none. */
async function errorMessageOf(response: Response): Promise<string> {
  const body = (await readJson(response).catch(() => undefined)) as { readonly error?: unknown } | undefined
  return typeof body?.error === 'string' ? body.error.slice(0, 200) : ''
}

/** @throws DnsZoneError when the body is not JSON, breaks off, or is larger than any zone that we read */
async function readJson(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of response.body ?? []) {
      size += part.length
      if (size > maxResponseBytes) break
      parts.push(part)
    }
    if (size <= maxResponseBytes) return JSON.parse(Buffer.concat(parts).toString())
  } catch (cause) {
    throw new DnsZoneError('PowerDNS sent an unreadable response.', undefined, { cause })
  }
  throw new DnsZoneError(`The zone is larger than ${maxResponseBytes} bytes.`)
}
