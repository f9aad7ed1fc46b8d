import { randomInt } from 'node:crypto'
import { turns } from '../../base/concurrency/semaphore.ts'
import type { Endpoint } from '../../base/config/config.ts'
import { answerCache, type CacheLimits, type Keepable } from './cache.ts'
import { readChain } from './cname-chain.ts'
import { type Exchanged, exchangeOverTcp, exchangeOverUdp } from './exchange.ts'
import type { Answer, Question, RecordData, RecordType, Resolver } from './port.ts'
import { canonicalName, formQuery, isAskable, type Response } from './wire-format.ts'

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

type Failed = Extract<Answer<never>, { kind: 'failed' }>

/** An answer and how long, and how big, it may be kept. */
interface Asked {
  readonly answer: Answer<unknown>
  readonly keepSeconds: number
  readonly bytes: number
}

/** A {@link Resolver} that asks DNS servers over the network: UDP, TCP for what is truncated or doubtful. */
export function networkResolver(options: NetworkResolverOptions): Resolver {
  const { servers, timeoutMs } = options
  const cache = answerCache(options.cache ?? defaultCache, options.nowMs ?? (() => performance.now()))
  const underWay = new Map<string, Promise<Answer<unknown>>>()
  const turn = turns(maxQuestionsAtOnce)
  let firstServer = 0

  async function askServer(server: Endpoint, name: string, type: RecordType, overTcp: boolean): Promise<Exchanged> {
    const query = formQuery(randomInt(0x10000), name, type)
    if (overTcp) return exchangeOverTcp(server, query, timeoutMs)
    const exchanged = await exchangeOverUdp(server, query, timeoutMs)
    const isComplete = exchanged.kind === 'answered' && !exchanged.response.truncated
    if (isComplete || exchanged.kind === 'silent') return exchanged
    return exchangeOverTcp(server, formQuery(randomInt(0x10000), name, type), timeoutMs)
  }

  /** Asks each server once, until one has an answer. */
  async function askServers(name: string, type: RecordType, overTcp: boolean): Promise<Response | Failed> {
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
  async function ask(name: string, type: RecordType, overTcp: boolean): Promise<Asked> {
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
          if (!isAskable(here)) return keepable({ kind: 'none', why: 'nxdomain' }, chainSeconds, response.size)
          break
        default:
          read satisfies never
      }
    }
  }

  async function askInTurn(name: string, type: RecordType, overTcp: boolean): Promise<Asked> {
    const release = await turn()
    try {
      return await ask(name, type, overTcp)
    } finally {
      release?.()
    }
  }

  async function askAndKeep(key: string, name: string, type: RecordType): Promise<Answer<unknown>> {
    try {
      const { answer, keepSeconds, bytes } = await askInTurn(name, type, false)
      if (answer.kind !== 'failed') cache.keep(key, answer, keepSeconds, bytes + key.length)
      return answer
    } finally {
      underWay.delete(key)
    }
  }

  async function askForProof(name: string, type: RecordType): Promise<Answer<unknown>> {
    const [one, other] = await Promise.all([askInTurn(name, type, true), askInTurn(name, type, true)])
    if (one.answer.kind === 'failed') return one.answer
    if (other.answer.kind === 'failed') return other.answer
    return isSame(one.answer, other.answer) ? one.answer : { kind: 'failed', why: 'two answers that differ' }
  }

  function answer(
    asked: string,
    type: RecordType,
    { forProof = false, isFresh = false }: Question,
  ): Answer<unknown> | Promise<Answer<unknown>> {
    const name = canonicalName(asked)
    const key = `${type} ${name}`
    const kept = isFresh ? undefined : cache.get(key)
    const known = forProof ? undefined : (kept ?? underWay.get(key))
    if (known) return known
    if (!isAskable(name)) return { kind: 'none', why: 'nxdomain' }
    if (forProof) return askForProof(name, type)
    const asking = askAndKeep(key, name, type)
    underWay.set(key, asking)
    return asking
  }

  return {
    async resolve<Type extends RecordType>(
      name: string,
      type: Type,
      question: Question = {},
    ): Promise<Answer<RecordData[Type]>> {
      const { signal } = question
      if (signal?.aborted) return gaveUp
      const answered = answer(name, type, question)
      const waited = signal && answered instanceof Promise ? orGiveUp(answered, signal) : answered
      return (await waited) as Answer<RecordData[Type]>
    },
  }
}

const gaveUp: Failed = { kind: 'failed', why: 'gave up waiting' }

function orGiveUp(answer: Promise<Answer<unknown>>, signal: AbortSignal): Promise<Answer<unknown>> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(gaveUp)
    signal.addEventListener('abort', stop, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function noSocket(error: unknown): Exchanged {
  return { kind: 'silent', why: String(error) }
}

function isAnswer(response: Response): boolean {
  const { rcode, truncated, isReferral } = response
  return !truncated && (rcode === 'NXDOMAIN' || (rcode === 'NOERROR' && !isReferral))
}

function whyNot(exchanged: Exchanged): string {
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

function failedWith({ why }: { readonly why: string }): Asked {
  return { answer: { kind: 'failed', why }, keepSeconds: 0, bytes: 0 }
}

function keepable(answer: Keepable<unknown>, seconds: number, bytes: number): Asked {
  const keepSeconds = Math.min(seconds, answer.kind === 'found' ? maxFoundSeconds : maxAbsentSeconds)
  return answer.kind === 'found'
    ? { answer: { ...answer, ttlSeconds: keepSeconds }, keepSeconds, bytes }
    : { answer, keepSeconds, bytes }
}

function isSame(one: Keepable<unknown>, other: Keepable<unknown>): boolean {
  if (one.kind === 'none' || other.kind === 'none')
    return one.kind === 'none' && other.kind === 'none' && one.why === other.why
  return asSet(one.records) === asSet(other.records)
}

function asSet(records: readonly unknown[]): string {
  return JSON.stringify([...new Set(records.map(each => JSON.stringify(each)))].sort())
}
