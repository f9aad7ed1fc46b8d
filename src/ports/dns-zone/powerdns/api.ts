import { DnsZoneError } from '../port.ts'

/** Where a PowerDNS server's API is reached. */
export interface PowerDnsAddress {
  /** Up to, but without, `/api/v1`. */
  readonly url: string
  /** `api-key` of its configuration. */
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

/** All records of one name and type, in the forms of a zone file; names end with a dot. */
export interface RrSet {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly records: readonly RrSetRecord[]
  readonly comments: readonly RrSetComment[]
}

/** A set as it is to be: without records it disappears, with its comments. */
export type RrSetChange = RrSet

export interface PowerDnsZone {
  /** As it stands in paths. */
  readonly id: string
  readonly name: string
  readonly kind: string
}

interface WholeZone {
  readonly rrsets: readonly RrSet[]
}

/** What we ask of the HTTP API of a PowerDNS authoritative server, 4.7 and later. */
export interface PowerDnsApi {
  /** The zone of exactly this name. */
  findZone(name: string): Promise<PowerDnsZone | undefined>
  /** All sets of the zone. */
  sets(findZone: PowerDnsZone, signal?: AbortSignal): Promise<readonly RrSet[]>
  /** The sets of one name, without what is disabled in them: not for writing them back. */
  setsAt(findZone: PowerDnsZone, name: string): Promise<readonly RrSet[]>
  /**
   * Changes some sets, all or none.
   * @returns why the server does not take them together with what stands there, in its words; undefined: it took them
   */
  change(findZone: PowerDnsZone, changes: readonly RrSetChange[], signal: AbortSignal): Promise<string | undefined>
  /** @throws DnsZoneError when the server is away or does not take the key. */
  checkAccess(): Promise<void>
}

const requestMs = 5000
const maxTries = 3
const maxAnswerBytes = 64 * 1024 * 1024
const serverPath = '/api/v1/servers/localhost'

/** @throws DnsZoneError from every method, when the server is away or says no. */
export function powerDnsApi({ url, key }: PowerDnsAddress): PowerDnsApi {
  const base = `${url.replace(/\/+$/, '')}${serverPath}`

  async function send(path: string, signal?: AbortSignal, body?: object): Promise<Response> {
    const timeout = AbortSignal.timeout(requestMs)
    try {
      return await fetch(`${base}${path}`, {
        method: body ? 'PATCH' : 'GET',
        headers: { 'x-api-key': key, accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        // Whoever the server sends us to is not to see the key.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
    } catch (cause) {
      throw new DnsZoneError('PowerDNS does not answer.', undefined, { cause })
    }
  }

  /** A write is made once: whether one whose answer is lost is to be made again, its caller knows. */
  async function read<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const response = await send(path, signal).catch((error: unknown) => error)
      if (response instanceof Response && response.ok) return (await readJson(response)) as Answer
      const trouble = response instanceof Response ? await troubleOf(response) : response
      const mayPass = !(response instanceof Response) || response.status >= 500
      if (!mayPass || attempt === maxTries || signal?.aborted) throw trouble
      await Bun.sleep(100 * 3 ** attempt * Math.random())
    }
  }

  const pathOf = ({ id }: PowerDnsZone) => `/zones/${id}`
  return {
    findZone: async name =>
      (await read<readonly PowerDnsZone[]>(`/zones?dnssec=false&zone=${encodeURIComponent(`${name}.`)}`)).find(
        powerDnsZone => powerDnsZone.name.toLowerCase() === `${name}.`,
      ),
    sets: async (zone, signal) => (await read<WholeZone>(pathOf(zone), signal)).rrsets,
    setsAt: async (zone, name) => {
      const { rrsets } = await read<WholeZone>(`${pathOf(zone)}?rrset_name=${encodeURIComponent(`${name}.`)}`)
      // Comments come for every name, with sets that are empty (4.7).
      return rrsets.filter(rrset => rrset.name.toLowerCase() === `${name}.`)
    },
    change: async (zone, changes, signal) => {
      const rrsets = changes.map(change => ({
        ...(change.records.length > 0 ? change : { name: change.name, type: change.type }),
        changetype: change.records.length > 0 ? 'REPLACE' : 'DELETE',
      }))
      const response = await send(pathOf(zone), signal, { rrsets })
      if (response.ok) return undefined
      const why = await sayingOf(response)
      if (response.status === 422 && /conflict|already exists|duplicate/i.test(why)) return why
      throw troubleWith(response, why)
    },
    checkAccess: async () => void (await read('')),
  }
}

async function troubleOf(response: Response): Promise<DnsZoneError> {
  return troubleWith(response, await sayingOf(response))
}

function troubleWith({ status, headers }: Response, why: string): DnsZoneError {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfter = seconds >= 0 ? Math.ceil(seconds) : undefined
  if (status === 401 || status === 403) return new DnsZoneError('PowerDNS does not take our API key.')
  if (status === 429) return new DnsZoneError('PowerDNS takes no more requests at the moment.', retryAfter)
  return new DnsZoneError(`PowerDNS answered ${status}${why === '' ? '' : `: ${why}`}`, retryAfter)
}

/** What the server says of its refusal. */
async function sayingOf(response: Response): Promise<string> {
  const said = (await readJson(response).catch(() => undefined)) as { readonly error?: unknown } | undefined
  return typeof said?.error === 'string' ? said.error.slice(0, 200) : ''
}

/** @throws DnsZoneError when it is no JSON, breaks off, or is beyond the size that a zone may have here. */
async function readJson(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of response.body ?? []) {
      size += part.length
      if (size > maxAnswerBytes) break
      parts.push(part)
    }
    if (size <= maxAnswerBytes) return JSON.parse(Buffer.concat(parts).toString())
  } catch (cause) {
    throw new DnsZoneError('PowerDNS gave an answer that cannot be read.', undefined, { cause })
  }
  throw new DnsZoneError(`The zone takes more than ${maxAnswerBytes} bytes.`)
}
