import { compareRecord } from '../../domains/dns/check-record.ts'
import { spfRecordValue } from '../../domains/dns/records.ts'
import { checkSpfCoverage, isSpf } from '../../domains/dns/spf.ts'
import { presetOf } from '../../ports/provider/smarthost/presets.ts'
import type { DoctorCheck, DoctorDeps } from './check.ts'
import { error, note, ok, skipped, warning } from './finding.ts'

/** Is the record that MAILROOM_SPF_INCLUDE names fit to be included by all domains? */
const spfIncludeCheck: DoctorCheck = {
  name: 'spf_include',
  area: 'dns',
  async run({ config, resolver }) {
    const { spfInclude: include, hostname } = config
    if (include === undefined) return checkWithoutInclude(config)
    const answer = await resolver.resolve(include, 'TXT', { bypassCache: true })
    if (answer.kind === 'failed') return skipped(`${include} could not be looked up: ${answer.why}`)
    if (answer.kind === 'none' || !answer.records.some(isSpf))
      return error(
        `${include}, the name in MAILROOM_SPF_INCLUDE, has no SPF record`,
        'Set MAILROOM_SPF_INCLUDE to the name that your relay says to include, or publish the record: SPF records that include a name without one are in error, and receivers ignore them.',
      )
    const ours = spfRecordValue({ hostname, spfInclude: include })
    const coverage = await checkSpfCoverage(resolver, { name: hostname, records: [ours], ours })
    switch (coverage.kind) {
      case 'covers':
      case 'wrong':
        if (coverage.detail === undefined) return ok(`SPF records can include ${include}`)
        return error(
          `an SPF record that includes ${include} is wrong: ${coverage.detail.replace(/\.$/, '')}`,
          `Correct the SPF record at ${include}: every domain includes it.`,
        )
      case 'unknown':
        return skipped(`the SPF record at ${include} could not be evaluated: ${coverage.failure}`)
      default:
        return coverage satisfies never
    }
  },
}

function checkWithoutInclude({ provider, smarthostUrls = [], hostname }: DoctorDeps['config']) {
  const relays = smarthostUrls.map(url => new URL(url).hostname).filter(host => !isOurs(host, hostname))
  if (provider !== 'smarthost' || relays.length === 0) return skipped('MAILROOM_SPF_INCLUDE is not set')
  return note(
    `domains are asked to list ${hostname} in SPF, and mail goes out through ${relays.join(', ')}`,
    `If the relay sends from other addresses than those of ${hostname}, set MAILROOM_SPF_INCLUDE to the name that the relay says to include.`,
  )
}

function isOurs(host: string, hostname: string): boolean {
  return host === hostname || host === 'localhost' || host === '[::1]' || host.startsWith('127.')
}

/** Does the SPF record of our own name cover our mail? Bounces of domains without a return path of their own come to it. */
const ownSpfCheck: DoctorCheck = {
  name: 'own_spf',
  area: 'dns',
  async run({ config, resolver }) {
    const { hostname, provider, smarthostPreset } = config
    if (provider !== 'smarthost' || presetOf(smarthostPreset, true).returnPath !== 'ours')
      return skipped('the provider replaces the envelope sender')
    const answer = await resolver.resolve(hostname, 'TXT', { bypassCache: true })
    if (answer.kind === 'failed') return skipped(`${hostname} could not be looked up: ${answer.why}`)
    const value = spfRecordValue(config)
    const record = {
      purpose: 'return_path',
      type: 'TXT',
      name: hostname,
      value,
      priority: null,
      required: true,
    } as const
    const texts = answer.kind === 'found' ? answer.records : []
    const { status, detail, failure } = await compareRecord(resolver, record, texts)
    const why = `Bounces of domains without a return path of their own come to ${hostname}, and receivers check the SPF record there.`
    switch (status) {
      case 'verified':
        return ok(`the SPF record of ${hostname} covers our mail`)
      case 'unknown':
        return skipped(`the SPF record of ${hostname} could not be evaluated: ${failure ?? 'DNS did not answer'}`)
      case 'pending':
        return warning(`${hostname} has no SPF record`, `Publish the TXT record ${value} at ${hostname}. ${why}`)
      case 'mismatch':
        return warning(
          `the SPF record of ${hostname} does not cover our mail: ${(detail ?? 'it lists other sources').replace(/\.$/, '')}`,
          `Correct it; ${value} would do. ${why}`,
        )
      default:
        return status satisfies never
    }
  },
}

export const spfChecks: readonly DoctorCheck[] = [spfIncludeCheck, ownSpfCheck]
