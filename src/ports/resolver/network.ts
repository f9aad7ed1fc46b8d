import { randomInt } from 'node:crypto'
import { newSemaphore } from '../../base/concurrency/semaphore.ts'
import type { Endpoint } from '../../base/config/config.ts'
import { type CacheableAnswer, type CacheLimits, createAnswerCache } from './cache.ts'
import { readChain } from './cname-chain.ts'
import { type ExchangeResult, exchangeOverTcp, exchangeOverUdp } from './exchange.ts'
import type { DnsAnswer, LookupOptions, RecordData, RecordType, Resolver } from './port.ts'
import { canonicalName, type DnsResponse, encodeQuery, isValidName } from './wire-format.ts'

export interface NetworkResolverOptions {
  /** Recursive servers, asked in this order, starting with the one that answered last. */
  readonly servers: readonly Endpoint[]
  /** How long one server may take for one question. */
  readonly timeoutMs: number
  readonly cache?: CacheLimits
  /** Milliseconds on a clock that never goes back. */
  readonly nowMs?: () => number
}

const maxFoundSeconds = 3600
const maxAbsentSeconds = 300
const maxQuestionsAtOnce = 512
const defaultCache: CacheLimits = { maxEntries: 20_000, maxBytes: 32 * 1024 * 1024 }

type FailedAnswer = Extract<DnsAnswer<never>, { kind: 'failed' }>

/** An answer and how long, and how big, it may be kept. */
interface LookupResult {
  readonly answer: DnsAnswer<unknown>
  readonly keepSeconds: number
  readonly bytes: number
}

/** A {@link Resolver} that asks DNS servers over the network: UDP, TCP for what is truncated or doubtful. */
export function networkResolver(options: NetworkResolverOptions): Resolver {
  const { servers, timeoutMs } = options
  const cache = createAnswerCache(options.cache ?? defaultCache, options.nowMs ?? (() => performance.now()))
  const underWay = new Map<string, Promise<DnsAnswer<unknown>>>()
  const turn = newSemaphore(maxQuestionsAtOnce)
  let firstServer = 0

  async function askServer(
    server: Endpoint,
    name: string,
    type: RecordType,
    overTcp: boolean,
  ): Promise<ExchangeResult> {
    const query = encodeQuery(randomInt(0x10000), name, type)
    if (overTcp) return exchangeOverTcp(server, query, timeoutMs)
    const exchanged = await exchangeOverUdp(server, query, timeoutMs)
    const isComplete = exchanged.kind === 'answered' && !exchanged.response.truncated
    if (isComplete || exchanged.kind === 'silent') return exchanged
    return exchangeOverTcp(server, encodeQuery(randomInt(0x10000), name, type), timeoutMs)
  }

  /** Asks each server once, until one has an answer. */
  async function askServers(name: string, type: RecordType, overTcp: boolean): Promise<DnsResponse | FailedAnswer> {
    let why = 'no DNS server is known'
    const startWith = firstServer
    for (let i = 0; i < servers.length; i++) {
      const position = (startWith + i) % servers.length
      const server = servers[position]
      if (!server) continue
      const exchanged = await askServer(server, name, type, overTcp).catch(noSocket)
      if (exchanged.kind === 'answered' && isAnswer(exchanged.response)) {
        firstServer = position
        return exchanged.response
      }
      why = `${server.host}: ${whyNot(exchanged)}`
    }
    return { kind: 'failed', why }
  }

  /** Asks for a name, and for the names that its CNAMEs lead to. */
  async function ask(name: string, type: RecordType, overTcp: boolean): Promise<LookupResult> {
    const passed = new Set<string>()
    let here = name
    let chainSeconds = Number.POSITIVE_INFINITY
    for (;;) {
      const response = await askServers(here, type, overTcp)
      if ('kind' in response) return failedWith(response)
      const read = readChain(response, here, type, passed)
      switch (read.kind) {
        case 'failed':
          return failedWith(read)
        case 'says':
          return keepable(read.answer, Math.min(chainSeconds, read.keepSeconds), response.size)
        case 'leads-to':
          chainSeconds = Math.min(chainSeconds, read.ttlSeconds)
          here = read.name
          if (!isValidName(here)) return keepable({ kind: 'none', why: 'nxdomain' }, chainSeconds, response.size)
          break
        default:
          read satisfies never
      }
    }
  }

  async function askInTurn(name: string, type: RecordType, overTcp: boolean): Promise<LookupResult> {
    const release = await turn()
    try {
      return await ask(name, type, overTcp)
    } finally {
      release?.()
    }
  }

  async function askAndKeep(key: string, name: string, type: RecordType): Promise<DnsAnswer<unknown>> {
    try {
      const { answer, keepSeconds, bytes } = await askInTurn(name, type, false)
      if (answer.kind !== 'failed') cache.set(key, answer, keepSeconds, bytes + key.length)
      return answer
    } finally {
      underWay.delete(key)
    }
  }

  async function askForProof(name: string, type: RecordType): Promise<DnsAnswer<unknown>> {
    const [one, other] = await Promise.all([askInTurn(name, type, true), askInTurn(name, type, true)])
    if (one.answer.kind === 'failed') return one.answer
    if (other.answer.kind === 'failed') return other.answer
    return isSame(one.answer, other.answer) ? one.answer : { kind: 'failed', why: 'two answers that differ' }
  }

  function answer(
    asked: string,
    type: RecordType,
    { forProof = false, bypassCache = false }: LookupOptions,
  ): DnsAnswer<unknown> | Promise<DnsAnswer<unknown>> {
    const name = canonicalName(asked)
    const key = `${type} ${name}`
    const kept = bypassCache ? undefined : cache.get(key)
    const known = forProof ? undefined : (kept ?? underWay.get(key))
    if (known) return known
    if (!isValidName(name)) return { kind: 'none', why: 'nxdomain' }
    if (forProof) return askForProof(name, type)
    const asking = askAndKeep(key, name, type)
    underWay.set(key, asking)
    return asking
  }

  return {
    async resolve<Type extends RecordType>(
      name: string,
      type: Type,
      question: LookupOptions = {},
    ): Promise<DnsAnswer<RecordData[Type]>> {
      const { signal } = question
      if (signal?.aborted) return gaveUp
      const answered = answer(name, type, question)
      const waited = signal && answered instanceof Promise ? orGiveUp(answered, signal) : answered
      return (await waited) as DnsAnswer<RecordData[Type]>
    },
  }
}

const gaveUp: FailedAnswer = { kind: 'failed', why: 'gave up waiting' }

function orGiveUp(answer: Promise<DnsAnswer<unknown>>, signal: AbortSignal): Promise<DnsAnswer<unknown>> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(gaveUp)
    signal.addEventListener('abort', stop, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function noSocket(error: unknown): ExchangeResult {
  return { kind: 'silent', why: String(error) }
}

function isAnswer(response: DnsResponse): boolean {
  const { rcode, truncated, isReferral } = response
  return !truncated && (rcode === 'NXDOMAIN' || (rcode === 'NOERROR' && !isReferral))
}

function whyNot(exchanged: ExchangeResult): string {
  switch (exchanged.kind) {
    case 'answered':
      if (exchanged.response.isReferral) return 'a referral'
      return exchanged.response.truncated ? 'truncated over TCP' : exchanged.response.rcode
    case 'silent':
      return exchanged.why
    case 'doubtful':
      return 'answers to other questions'
    default:
      return exchanged satisfies never
  }
}

function failedWith({ why }: { readonly why: string }): LookupResult {
  return { answer: { kind: 'failed', why }, keepSeconds: 0, bytes: 0 }
}

function keepable(answer: CacheableAnswer<unknown>, seconds: number, bytes: number): LookupResult {
  const keepSeconds = Math.min(seconds, answer.kind === 'found' ? maxFoundSeconds : maxAbsentSeconds)
  return answer.kind === 'found'
    ? { answer: { ...answer, ttlSeconds: keepSeconds }, keepSeconds, bytes }
    : { answer, keepSeconds, bytes }
}

function isSame(one: CacheableAnswer<unknown>, other: CacheableAnswer<unknown>): boolean {
  if (one.kind === 'none' || other.kind === 'none')
    return one.kind === 'none' && other.kind === 'none' && one.why === other.why
  return asSet(one.records) === asSet(other.records)
}

function asSet(records: readonly unknown[]): string {
  return JSON.stringify([...new Set(records.map(record => JSON.stringify(record)))].sort())
}
