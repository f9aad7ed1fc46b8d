import { mailauthResolver } from '../../ports/authenticator/mailauth/resolver.ts'
import { checkSpf } from '../../ports/authenticator/mailauth/spf.ts'
import type { AuthResult } from '../../ports/authenticator/port.ts'
import { canonicalName } from '../../ports/resolver/names.ts'
import type { DnsAnswer, Resolver } from '../../ports/resolver/port.ts'

/** RFC 7208 §4.5: the version and then a space or the end. */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text)
}

/** What an SPF record is worth for the mail that we send. */
export type SpfCoverage =
  /** `detail`: what is wrong all the same, for mail that is not ours; in a sentence for a person. */
  | { readonly kind: 'covers'; readonly detail?: string }
  /** `detail`: what is wrong, in a sentence for a person. */
  | { readonly kind: 'wrong'; readonly detail: string }
  /** A look-up failed on which the answer depends. */
  | { readonly kind: 'unknown'; readonly failure: string }

export interface SpfQuestion {
  /** Where the records are. */
  readonly name: string
  /** The SPF records at that name, as DNS has them. */
  readonly records: readonly [string, ...string[]]
  /** The record that we ask for there: the sources that it lists must get a pass. */
  readonly ours: string
}

/** An address that stands for our sources, and one that stands for everyone else: of 240.0.0.0/4, which nobody uses. */
const ourAddress = '240.0.0.1'
const otherAddress = '247.255.255.254'

/** For all look-ups of one record together. */
const evaluationMs = 15_000
/** Ends an evaluation for everyone else only when the record needs more look-ups than receivers make. */
const anyVoidLookups = 1000

/**
 * Do receivers that evaluate these SPF records (RFC 7208 §4) give a pass to mail from our sources? They are evaluated as a
 * receiver does, with includes, redirects, macros and limits, for an address that in place of DNS our own sources resolve to:
 * so it does not matter where the relay's mail comes from, nor whether the record includes it directly. Without an include,
 * our sources are the addresses of our host name, and a record that lists those covers them too. The record must moreover
 * not give a pass to everyone, nor need more look-ups than receivers make. An error elsewhere in it, which receivers of our
 * mail do not come to, is no reason to stop that.
 */
export async function checkSpfCoverage(resolver: Resolver, { name, records, ours }: SpfQuestion): Promise<SpfCoverage> {
  if (records.length > 1)
    return wrong(
      `There are ${records.length} SPF records at this name, so receivers ignore them all (RFC 7208 §4.5). Merge them into one.`,
    )
  const source = sourceOf(ours)
  const [record] = records
  const evaluate = newEvaluation(resolver, name, record)
  const [forUs, forOthers] = await Promise.all([
    evaluate(ourAddress, { replaced: source }),
    evaluateForOthers(resolver, source, evaluate),
  ])
  if (forOthers.result === 'pass')
    return wrong('It allows everyone to send (+all), which makes it useless. End it with ~all or -all.')
  const errorForOthers = forOthers.result === 'permerror' ? describeError(forOthers.detail) : undefined
  if (errorForOthers === tooManyLookups) return wrong(tooManyLookups)
  switch (forUs.result) {
    case 'pass':
      return { kind: 'covers', ...(errorForOthers !== undefined && { detail: errorForOthers }) }
    case 'temperror':
      return { kind: 'unknown', failure: forUs.detail }
    case 'permerror':
      return wrong(describeError(forUs.detail))
    default:
      return source.kind === 'include'
        ? wrong(`It is missing include:${source.name}.`)
        : checkAddresses(resolver, source.name, evaluate)
  }
}

/** The name of the relay's record, or of the host whose addresses mail comes from. */
interface SpfSource {
  readonly kind: 'include' | 'a'
  readonly name: string
}

/** The source that a record of ours lists. @throws when it is none */
function sourceOf(ours: string): SpfSource {
  const [, kind, name] = /^v=spf1 (include|a):(\S+)/.exec(ours) ?? []
  if (name === undefined) throw new Error(`no SPF record of ours: ${ours}`)
  return { kind: kind === 'a' ? 'a' : 'include', name: canonicalName(name) }
}

interface Evaluated {
  readonly result: AuthResult
  readonly detail: string
}

/** `replaced`: resolves to {@link ourAddress} in place of what DNS has. `missing`: exists, and lists nothing. */
interface EvaluationOptions {
  readonly replaced?: SpfSource
  readonly missing?: SpfSource
  readonly maxVoidLookups?: number
}

type Evaluate = (address: string, options?: EvaluationOptions) => Promise<Evaluated>

/** Evaluates `record` as the SPF record at `name`, for one address after the other, with one time limit. */
function newEvaluation(resolver: Resolver, name: string, record: string): Evaluate {
  const signal = AbortSignal.timeout(evaluationMs)
  return async (address, { replaced, missing, maxVoidLookups } = {}) => {
    const answers = new Map([[`TXT ${canonicalName(name)}`, record]])
    if (missing) answers.set(`TXT ${missing.name}`, 'v=spf1 ?all')
    if (replaced?.kind === 'include') answers.set(`TXT ${replaced.name}`, `v=spf1 ip4:${ourAddress} -all`)
    if (replaced?.kind === 'a') answers.set(`A ${replaced.name}`, ourAddress)
    const { result, detail } = await checkSpf(
      { mailFrom: `postmaster@${name}`, remoteIp: address, helo: name },
      name,
      mailauthResolver(withAnswers(resolver, answers), signal),
      maxVoidLookups,
    )
    return { result, detail: detail ?? '' }
  }
}

/** A resolver that gives these answers, by type and name, and for all else asks `resolver`. */
function withAnswers(resolver: Resolver, answers: ReadonlyMap<string, string>): Resolver {
  return {
    resolve: async (name, type, options) => {
      const value = answers.get(`${type} ${canonicalName(name)}`)
      if (value === undefined) return resolver.resolve(name, type, options)
      return { kind: 'found', records: [value], ttlSeconds: 0 } as unknown as DnsAnswer<never>
    },
  }
}

/**
 * The whole record, as all its terms apply to everyone else. That the relay has no SPF record is not its fault, nor are
 * look-ups that find nothing for this address alone, as those with macros do.
 */
async function evaluateForOthers(resolver: Resolver, source: SpfSource, evaluate: Evaluate): Promise<Evaluated> {
  const options = { maxVoidLookups: anyVoidLookups }
  if (source.kind === 'a') return evaluate(otherAddress, options)
  const answer = await resolver.resolve(source.name, 'TXT')
  const exists = answer.kind === 'failed' || (answer.kind === 'found' && answer.records.some(isSpf))
  return evaluate(otherAddress, exists ? options : { ...options, missing: source })
}

const maxAddresses = 8

/** Does the record cover the addresses of this host, without naming it? */
async function checkAddresses(resolver: Resolver, host: string, evaluate: Evaluate): Promise<SpfCoverage> {
  const answers = await Promise.all([resolver.resolve(host, 'A'), resolver.resolve(host, 'AAAA')])
  for (const answer of answers)
    if (answer.kind === 'failed')
      return { kind: 'unknown', failure: `The addresses of ${host} could not be looked up: ${answer.why}` }
  const addresses = answers.flatMap(answer => (answer.kind === 'found' ? answer.records : [])).slice(0, maxAddresses)
  if (addresses.length === 0) return wrong(`It is missing a:${host}.`)
  for (const address of addresses) {
    const { result, detail } = await evaluate(address)
    if (result === 'temperror') return { kind: 'unknown', failure: detail }
    if (result === 'permerror') return wrong(describeError(detail))
    if (result !== 'pass')
      return wrong(`It is missing a:${host}: it does not list ${address}, from which mail is sent.`)
  }
  return { kind: 'covers' }
}

function wrong(detail: string): SpfCoverage {
  return { kind: 'wrong', detail }
}

const tooManyLookups =
  'It needs more than 10 DNS look-ups, includes counted, which receivers treat as a permanent error (RFC 7208 §4.6.4).'

/** A permanent error (RFC 7208 §2.6.7) in words that say what to do. @param detail of the evaluation */
function describeError(detail: string): string {
  if (/too many dns/i.test(detail)) return tooManyLookups
  if (/too many void/i.test(detail))
    return 'More than 2 of its DNS look-ups find nothing, which receivers treat as a permanent error (RFC 7208 §4.6.4). Remove the names that no longer exist.'
  return `Receivers treat it as a permanent error: ${detail}.`
}
