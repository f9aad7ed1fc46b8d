import { randomInt } from 'node:crypto'
import { newSemaphore } from '../../../base/concurrency/semaphore.ts'
import type { Endpoint } from '../../../base/config/config.ts'
import { canonicalName, isValidName } from '../names.ts'
import type { DnsAnswer, LookupOptions, RecordData, RecordType, Resolver } from '../port.ts'
import { type CacheableAnswer, type CacheLimits, createAnswerCache } from './cache.ts'
import { readChain } from './cname-chain.ts'
import { type ExchangeResult, exchangeOverTcp, exchangeOverUdp } from './exchange.ts'
import { type DnsResponse, encodeQuery } from './wire-format.ts'

export interface NetworkResolverOptions {
  /** Recursive servers, tried in this order, starting with the one that answered last. */
  readonly servers: readonly Endpoint[]
  /** How long one server may take for one query. */
  readonly timeoutMs: number
  readonly cache?: CacheLimits
  /** A monotonic clock, in milliseconds; performance.now() unless given. */
  readonly nowMs?: () => number
}

const maxPositiveTtlSeconds = 3600
const maxNegativeTtlSeconds = 300
const maxConcurrentLookups = 512
const defaultCache: CacheLimits = { maxEntries: 20_000, maxBytes: 32 * 1024 * 1024 }

type FailedAnswer = Extract<DnsAnswer<never>, { kind: 'failed' }>

/** An answer, how long it may be cached, and its size over the wire. */
interface LookupResult {
  readonly answer: DnsAnswer<unknown>
  readonly cacheSeconds: number
  readonly bytes: number
}

/**
 * A {@link Resolver} that queries recursive DNS servers: over UDP, and over TCP when the response is truncated or may be
 * spoofed. Built on dns-packet, because node:dns on Bun splits the strings of one TXT record into several records:
 * https://github.com/oven-sh/bun/issues/21370
 */
export function networkResolver(options: NetworkResolverOptions): Resolver {
  const { servers, timeoutMs } = options
  const cache = createAnswerCache(options.cache ?? defaultCache, options.nowMs ?? (() => performance.now()))
  const inFlight = new Map<string, Promise<DnsAnswer<unknown>>>()
  const acquire = newSemaphore(maxConcurrentLookups)
  let firstServer = 0

  async function queryServer(
    server: Endpoint,
    name: string,
    type: RecordType,
    overTcp: boolean,
  ): Promise<ExchangeResult> {
    const query = encodeQuery(randomInt(0x10000), name, type)
    if (overTcp) return exchangeOverTcp(server, query, timeoutMs)
    const result = await exchangeOverUdp(server, query, timeoutMs)
    const isComplete = result.kind === 'answered' && !result.response.truncated
    if (isComplete || result.kind === 'unanswered') return result
    return exchangeOverTcp(server, encodeQuery(randomInt(0x10000), name, type), timeoutMs)
  }

  /** Tries each server once, until one answers. */
  async function queryServers(name: string, type: RecordType, overTcp: boolean): Promise<DnsResponse | FailedAnswer> {
    let why = 'no DNS server is configured'
    const start = firstServer
    for (let i = 0; i < servers.length; i++) {
      const position = (start + i) % servers.length
      const server = servers[position]
      if (!server) continue
      const result = await queryServer(server, name, type, overTcp).catch(noSocket)
      if (result.kind === 'answered' && isAnswer(result.response)) {
        firstServer = position
        return result.response
      }
      why = `${server.host}: ${describeFailure(result)}`
    }
    return { kind: 'failed', why }
  }

  /** Looks up a name, and the names that its CNAMEs lead to. */
  async function lookUp(name: string, type: RecordType, overTcp: boolean): Promise<LookupResult> {
    const visited = new Set<string>()
    let current = name
    let chainSeconds = Number.POSITIVE_INFINITY
    for (;;) {
      const response = await queryServers(current, type, overTcp)
      if ('kind' in response) return failedWith(response)
      const chain = readChain(response, current, type, visited)
      switch (chain.kind) {
        case 'failed':
          return failedWith(chain)
        case 'answered':
          return cacheable(chain.answer, Math.min(chainSeconds, chain.ttlSeconds), response.size)
        case 'continues':
          chainSeconds = Math.min(chainSeconds, chain.ttlSeconds)
          current = chain.name
          if (!isValidName(current)) return cacheable({ kind: 'none', why: 'nxdomain' }, chainSeconds, response.size)
          break
        default:
          chain satisfies never
      }
    }
  }

  async function lookUpInTurn(name: string, type: RecordType, overTcp: boolean): Promise<LookupResult> {
    const release = await acquire()
    try {
      return await lookUp(name, type, overTcp)
    } finally {
      release?.()
    }
  }

  async function lookUpAndCache(key: string, name: string, type: RecordType): Promise<DnsAnswer<unknown>> {
    try {
      const { answer, cacheSeconds, bytes } = await lookUpInTurn(name, type, false)
      if (answer.kind !== 'failed') cache.set(key, answer, cacheSeconds, bytes + key.length)
      return answer
    } finally {
      inFlight.delete(key)
    }
  }

  async function lookUpForProof(name: string, type: RecordType): Promise<DnsAnswer<unknown>> {
    const [first, second] = await Promise.all([lookUpInTurn(name, type, true), lookUpInTurn(name, type, true)])
    if (first.answer.kind === 'failed') return first.answer
    if (second.answer.kind === 'failed') return second.answer
    return isSame(first.answer, second.answer) ? first.answer : { kind: 'failed', why: 'two answers that differ' }
  }

  /** The answer from the cache, or the lookup in flight for the same question, or a new one. */
  function answer(
    name: string,
    type: RecordType,
    { forProof = false, bypassCache = false }: LookupOptions,
  ): DnsAnswer<unknown> | Promise<DnsAnswer<unknown>> {
    const key = `${type} ${name}`
    const cached = bypassCache ? undefined : cache.get(key)
    const known = forProof ? undefined : (cached ?? inFlight.get(key))
    if (known) return known
    if (!isValidName(name)) return { kind: 'none', why: 'nxdomain' }
    if (forProof) return lookUpForProof(name, type)
    const lookup = lookUpAndCache(key, name, type)
    inFlight.set(key, lookup)
    return lookup
  }

  return {
    async resolve<Type extends RecordType>(
      name: string,
      type: Type,
      options: LookupOptions = {},
    ): Promise<DnsAnswer<RecordData[Type]>> {
      const { signal } = options
      if (signal?.aborted) return aborted
      const answered = answer(canonicalName(name), type, options)
      const bounded = signal && answered instanceof Promise ? orAborted(answered, signal) : answered
      return (await bounded) as DnsAnswer<RecordData[Type]>
    },
  }
}

const aborted: FailedAnswer = { kind: 'failed', why: 'gave up waiting' }

function orAborted(answer: Promise<DnsAnswer<unknown>>, signal: AbortSignal): Promise<DnsAnswer<unknown>> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(aborted)
    signal.addEventListener('abort', stop, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function noSocket(error: unknown): ExchangeResult {
  return { kind: 'unanswered', why: String(error) }
}

function isAnswer(response: DnsResponse): boolean {
  const { rcode, truncated, isReferral } = response
  return !truncated && (rcode === 'NXDOMAIN' || (rcode === 'NOERROR' && !isReferral))
}

function describeFailure(result: ExchangeResult): string {
  switch (result.kind) {
    case 'answered':
      if (result.response.isReferral) return 'a referral'
      return result.response.truncated ? 'truncated over TCP' : result.response.rcode
    case 'unanswered':
      return result.why
    case 'spoofed':
      return 'responses to other queries'
    default:
      return result satisfies never
  }
}

function failedWith({ why }: { readonly why: string }): LookupResult {
  return { answer: { kind: 'failed', why }, cacheSeconds: 0, bytes: 0 }
}

function cacheable(answer: CacheableAnswer<unknown>, seconds: number, bytes: number): LookupResult {
  const cacheSeconds = Math.min(seconds, answer.kind === 'found' ? maxPositiveTtlSeconds : maxNegativeTtlSeconds)
  return answer.kind === 'found'
    ? { answer: { ...answer, ttlSeconds: cacheSeconds }, cacheSeconds, bytes }
    : { answer, cacheSeconds, bytes }
}

function isSame(one: CacheableAnswer<unknown>, other: CacheableAnswer<unknown>): boolean {
  if (one.kind === 'none' || other.kind === 'none')
    return one.kind === 'none' && other.kind === 'none' && one.why === other.why
  return asSet(one.records) === asSet(other.records)
}

function asSet(records: readonly unknown[]): string {
  return JSON.stringify([...new Set(records.map(record => JSON.stringify(record)))].sort())
}
