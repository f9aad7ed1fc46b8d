import { randomBytes } from 'node:crypto'
import type { DoctorCheck } from './check.ts'
import { error, note, ok, skipped, warning } from './finding.ts'

/** Popular names, which any resolver has in its cache. */
const wellKnown = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com', 'example.com'] as const
const slowMs = 500
/** A DKIM key of 2048 bits: one record of several strings (RFC 6376 §3.6.2.2). */
const longRecordName = '20230601._domainkey.gmail.com'
/** The test entry that each list has (RFC 5782 §5). An answer in 127.255.255.0/24 means that it refuses this resolver. */
const blockListTestName = '2.0.0.127.zen.spamhaus.org'
/** A zone with wrong signatures on purpose. */
const badlySignedName = 'dnssec-failed.org'
const advice = 'Set MAILROOM_RESOLVERS to a resolver close by, best a recursive resolver of your own (unbound).'

const resolverCheck: DoctorCheck = {
  name: 'resolver',
  area: 'dns',
  async run({ resolver }) {
    const lookups = await Promise.all(
      wellKnown.map(async name => {
        const start = performance.now()
        const answer = await resolver.resolve(name, 'MX', { bypassCache: true })
        return { answer, ms: performance.now() - start }
      }),
    )
    const failed = lookups.filter(lookup => lookup.answer.kind === 'failed')
    const why = failed.map(({ answer }) => (answer.kind === 'failed' ? answer.why : ''))[0]
    const median = Math.round(lookups.map(lookup => lookup.ms).sort((a, b) => a - b)[2] ?? 0)
    if (failed.length === lookups.length)
      return error(
        `no DNS server answers (${why})`,
        'Check that the servers in MAILROOM_RESOLVERS (without it, in /etc/resolv.conf) can be reached by UDP and TCP. Until then all mail is deferred (451).',
      )
    if (failed.length > 0) return warning(`${failed.length} of ${lookups.length} lookups failed (${why})`, advice)
    if (median > slowMs) return warning(`half of the lookups take longer than ${median} ms`, advice)
    return ok(`half of the lookups take at most ${median} ms`)
  },
}

const longAnswersCheck: DoctorCheck = {
  name: 'long_answers',
  area: 'dns',
  async run({ resolver }) {
    const answer = await resolver.resolve(longRecordName, 'TXT', { bypassCache: true })
    if (answer.kind === 'none')
      return skipped(`there is no record at ${longRecordName}, the long record that is looked up`)
    if (answer.kind === 'found' && answer.records.some(record => record.length > 255 && /p=[\w+/=]{300}/.test(record)))
      return ok('long records are answered whole')
    return error(
      answer.kind === 'failed' ? `a long record could not be looked up: ${answer.why}` : 'long records are cut short',
      `Let DNS answers of more than 512 bytes through, by UDP and by TCP on port 53: most DKIM keys are that long, and without them the signatures of good mail fail. ${advice}`,
    )
  },
}

const absentNamesCheck: DoctorCheck = {
  name: 'absent_names',
  area: 'dns',
  async run({ resolver }) {
    const random = `mailroom-${randomBytes(8).toString('hex')}`
    const names = [`${random}.example`, `www.${random}.com`]
    const answers = await Promise.all(names.map(name => resolver.resolve(name, 'A', { bypassCache: true })))
    if (answers.some(answer => answer.kind === 'found'))
      return error(
        'the resolver gives addresses for names that do not exist',
        `Turn that off at the resolver: forged sender domains look real with it. ${advice}`,
      )
    const failed = answers.find(answer => answer.kind === 'failed')
    if (failed?.kind === 'failed')
      return warning(
        `lookups of names that do not exist fail: ${failed.why}`,
        `Mail from domains without SPF waits for the timeout of each such lookup. ${advice}`,
      )
    return ok('names that do not exist are answered so (NXDOMAIN)')
  },
}

const blockListsCheck: DoctorCheck = {
  name: 'block_lists',
  area: 'dns',
  async run({ resolver }) {
    const answer = await resolver.resolve(blockListTestName, 'A', { bypassCache: true })
    if (answer.kind === 'failed') return skipped(`${blockListTestName} could not be looked up: ${answer.why}`)
    const blocked = answer.kind === 'none' || answer.records.every(record => record.startsWith('127.255.255.'))
    if (!blocked) return ok('Spamhaus answers this resolver')
    return note(
      'Spamhaus refuses this resolver: it is a public one, or asks too often',
      'Mailroom itself asks no DNS block list; a spam filter on this machine that does finds nothing with this resolver. A resolver of your own (unbound) is not refused.',
    )
  },
}

const dnssecCheck: DoctorCheck = {
  name: 'dnssec',
  area: 'dns',
  async run({ resolver }) {
    const [bad, good] = await Promise.all([
      resolver.resolve(badlySignedName, 'A', { bypassCache: true }),
      resolver.resolve('example.com', 'A', { bypassCache: true }),
    ])
    if (good.kind === 'failed' || bad.kind === 'none') return skipped(`${badlySignedName} could not be looked up`)
    if (bad.kind === 'failed') return ok('the resolver validates DNSSEC')
    return note(
      'the resolver does not validate DNSSEC',
      'SPF, DKIM and DMARC depend on DNS: use a resolver that validates DNSSEC, over loopback or your own network, so that nobody can forge its answers.',
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
