import { randomBytes } from 'node:crypto'
import type { DoctorCheck } from './check.ts'
import { error, note, ok, skipped, warning } from './finding.ts'

/** Names that many ask for, so that any resolver knows them. */
const wellKnown = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com', 'example.com'] as const
const slowMs = 500
/** A DKIM key of 2048 bits: one record, more than one string (RFC 6376 §3.6.2.2). */
const longText = '20230601._domainkey.gmail.com'
/** What each list answers for its test entry (RFC 5782 §5); from 127.255.255.0/24 it says that it does not answer us. */
const listEntry = '2.0.0.127.zen.spamhaus.org'
/** A zone that is signed wrongly on purpose. */
const badlySigned = 'dnssec-failed.org'
const advice =
  'Name a resolver near by in MAILROOM_RESOLVERS, best one of your own that asks the servers of each domain itself (unbound).'

const resolverCheck: DoctorCheck = {
  name: 'resolver',
  area: 'dns',
  async run({ resolver }) {
    const asked = await Promise.all(
      wellKnown.map(async name => {
        const begun = performance.now()
        const answer = await resolver.resolve(name, 'MX', { bypassCache: true })
        return { answer, ms: performance.now() - begun }
      }),
    )
    const failed = asked.filter(each => each.answer.kind === 'failed')
    const why = failed.map(each => (each.answer.kind === 'failed' ? each.answer.why : ''))[0]
    const median = Math.round(asked.map(each => each.ms).sort((a, b) => a - b)[2] ?? 0)
    if (failed.length === asked.length)
      return error(
        `no DNS server answers (${why})`,
        'See whether the servers of MAILROOM_RESOLVERS (without it, of /etc/resolv.conf) are reached, by UDP and TCP. Until then all mail is answered 451.',
      )
    if (failed.length > 0)
      return warning(`${failed.length} of ${asked.length} questions had no answer (${why})`, advice)
    if (median > slowMs) return warning(`half of the answers take longer than ${median} ms`, advice)
    return ok(`it answers, half of the time within ${median} ms`)
  },
}

const longAnswersCheck: DoctorCheck = {
  name: 'long_answers',
  area: 'dns',
  async run({ resolver }) {
    const answer = await resolver.resolve(longText, 'TXT', { bypassCache: true })
    if (answer.kind === 'none') return skipped(`${longText}, a long record, is not there to be asked for`)
    if (answer.kind === 'found' && answer.records.some(record => record.length > 255 && /p=[\w+/=]{300}/.test(record)))
      return ok('a record of several strings comes whole')
    return error(
      answer.kind === 'failed'
        ? `a long record cannot be had: ${answer.why}`
        : 'of a record of several strings only a part comes',
      `Let DNS answers of more than 512 bytes through, by UDP and by TCP on port 53: most DKIM keys are that long, and without them good mail looks forged. ${advice}`,
    )
  },
}

const absentNamesCheck: DoctorCheck = {
  name: 'absent_names',
  area: 'dns',
  async run({ resolver }) {
    const unknown = `mailroom-${randomBytes(8).toString('hex')}`
    const names = [`${unknown}.example`, `www.${unknown}.com`]
    const asked = await Promise.all(names.map(name => resolver.resolve(name, 'A', { bypassCache: true })))
    if (asked.some(dnsAnswer => dnsAnswer.kind === 'found'))
      return error(
        'it gives addresses for names that do not exist',
        `Turn that off at the resolver: forged senders look real with it. ${advice}`,
      )
    const failed = asked.find(dnsAnswer => dnsAnswer.kind === 'failed')
    if (failed?.kind === 'failed')
      return warning(
        `it does not say that a name is absent: ${failed.why}`,
        `Mail from domains without SPF waits for each such answer. ${advice}`,
      )
    return ok('absent names are told as absent')
  },
}

const blockListsCheck: DoctorCheck = {
  name: 'block_lists',
  area: 'dns',
  async run({ resolver }) {
    const answer = await resolver.resolve(listEntry, 'A', { bypassCache: true })
    if (answer.kind === 'failed') return skipped(`${listEntry} cannot be asked for: ${answer.why}`)
    const blocked = answer.kind === 'none' || answer.records.every(record => record.startsWith('127.255.255.'))
    if (!blocked) return ok('Spamhaus answers this resolver')
    return note(
      'Spamhaus does not answer this resolver: it is a public one, or asks too much',
      'Mailroom asks no such list itself; a filter on this machine that does sees nothing with this resolver, and other zones may slow it down as well. A resolver of your own (unbound) is not turned away.',
    )
  },
}

const dnssecCheck: DoctorCheck = {
  name: 'dnssec',
  area: 'dns',
  async run({ resolver }) {
    const [bad, good] = await Promise.all([
      resolver.resolve(badlySigned, 'A', { bypassCache: true }),
      resolver.resolve('example.com', 'A', { bypassCache: true }),
    ])
    if (good.kind === 'failed' || bad.kind === 'none') return skipped(`${badlySigned} cannot be asked for`)
    if (bad.kind === 'failed') return ok('it proves signed answers (DNSSEC)')
    return note(
      'it does not prove signed answers (DNSSEC)',
      'SPF, DKIM and DMARC believe what DNS says: a resolver that validates, reached over loopback or a network of your own, keeps others from answering in its place.',
    )
  },
}

export const dnsChecks: readonly DoctorCheck[] = [
  resolverCheck,
  longAnswersCheck,
  absentNamesCheck,
  blockListsCheck,
  dnssecCheck,
]
