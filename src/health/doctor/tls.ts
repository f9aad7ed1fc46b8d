import { readFile } from 'node:fs/promises'
import { dayMs, millisecondsOf } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { pluralize } from '../../base/format.ts'
import { policyRecords } from '../../domains/mta-sts/mta-sts.ts'
import { type MtaStsPolicyRow, selectPolicy, selectPolicyDomains } from '../../domains/mta-sts/table.ts'
import { selectCertificates, selectIssuedCertificate } from '../../ports/certificates/acme/table.ts'
import { checkChain } from '../../ports/certificates/chain-trust.ts'
import { CertificateError, readCertificate, readChain } from '../../ports/certificates/pem.ts'
import { resolveAddresses } from './addresses.ts'
import type { DoctorCheck, DoctorDeps } from './check.ts'
import { combineFindings, error, type Finding, note, ok, skipped, warning } from './finding.ts'

const expiresSoonMs = 14 * dayMs
const maxPolicies = 50

const certificate: DoctorCheck = {
  name: 'certificate',
  area: 'tls',
  async run(parts) {
    const { config, db, clock } = parts
    if (!config.roles.includes('smtp')) return skipped('this process takes no mail (MAILROOM_ROLES)')
    const { tlsCert, tlsKey, hostname } = config
    const now = new Date(millisecondsOf(clock.now()))
    const inFile = tlsCert && tlsKey ? await checkCertificateFiles(tlsCert, tlsKey, hostname, now) : undefined
    if (inFile && (inFile.level === 'ok' || config.acmeDirectory === undefined)) return inFile
    if (config.acmeDirectory !== undefined) return await checkIssuedCertificate(db, hostname, now)
    return warning(
      'there is no certificate: STARTTLS is not offered, and mail comes in the clear, or not at all from those that insist on TLS',
      'Set MAILROOM_TLS_CERT and MAILROOM_TLS_KEY, or let an authority issue one (MAILROOM_ACME_DIRECTORY).',
    )
  },
}

async function checkCertificateFiles(certFile: string, keyFile: string, hostname: string, now: Date): Promise<Finding> {
  try {
    const chain = await readFile(certFile, 'utf8')
    readCertificate(chain, await readFile(keyFile, 'utf8'))
    return assessChain(
      chain,
      hostname,
      now,
      'See why what renews it (certbot renew) does not put a newer one into MAILROOM_TLS_CERT; it is taken up without a restart.',
    )
  } catch (thrown) {
    if (!(thrown instanceof CertificateError) && !(thrown instanceof Error && 'syscall' in thrown)) throw thrown
    return error(
      `the certificate cannot be used: ${(thrown as Error).message}`,
      'Let MAILROOM_TLS_CERT name the chain and MAILROOM_TLS_KEY its key, both PEM, and let the account that runs Mailroom read them.',
    )
  }
}

async function checkIssuedCertificate(db: Db, hostname: string, now: Date): Promise<Finding> {
  const [listed] = await selectCertificates(db, [hostname])
  const issued = await selectIssuedCertificate(db, hostname)
  const todo =
    'See that port 80 of the name reaches MAILROOM_ACME_LISTEN from the world; the log says what the authority answered.'
  const trouble = listed?.last_error ? ` (${listed.last_error})` : ''
  if (!issued) return warning(`none was issued for ${hostname} yet${trouble}`, todo)
  return assessChain(issued.chain, hostname, now, `${todo}${trouble}`)
}

/** How a chain looks to others; `renewing`: what to do where it is not renewed. */
function assessChain(chain: string, hostname: string, now: Date, renewing: string): Finding {
  const [first] = readChain(chain)
  if (!first) return error('there is no certificate in the chain', renewing)
  const [from, until] = [new Date(first.validFrom).getTime(), new Date(first.validTo).getTime()]
  const left = until - now.getTime()
  if (left <= 0) return error(`the certificate expired at ${new Date(until).toISOString()}`, renewing)
  const trust = checkChain(chain, hostname, now)
  const days = `${pluralize(Math.floor(left / dayMs), 'day')} left`
  const findings: Finding[] = [
    left < Math.min(expiresSoonMs, (until - from) / 5)
      ? warning(`the certificate has ${days}`, renewing)
      : ok(`the certificate for ${hostname} has ${days}`),
  ]
  if (trust.kind === 'bad')
    findings.push(
      warning(
        `senders that check the certificate refuse it: ${trust.why}`,
        `Use one from an authority that others know, for the name ${hostname}. Without a check (most senders) mail still comes encrypted; with MTA-STS or DANE it does not come.`,
      ),
    )
  if (trust.kind === 'unknown_root')
    findings.push(
      warning(
        `the chain ends at ${trust.issuer}, which is no authority that others know`,
        'Put the intermediate certificates after the certificate in the file (fullchain.pem of certbot); with an authority of your own this may stay.',
      ),
    )
  return combineFindings(findings)
}

const mtaSts: DoctorCheck = {
  name: 'mta_sts',
  area: 'tls',
  async run(parts) {
    const since = parts.clock.now()
    const domains = await selectPolicyDomains(parts.db, since, maxPolicies)
    const policies = (await Promise.all(domains.map(domain => selectPolicy(parts.db, domain)))).filter(
      each => each !== undefined,
    )
    if (policies.length === 0) return skipped('no domain asks senders to insist on TLS (./mailroom domain mta-sts)')
    return combineFindings(await Promise.all(policies.map(policy => checkPolicyRecords(parts, policy))))
  },
}

async function checkPolicyRecords({ resolver, config }: DoctorDeps, policy: MtaStsPolicyRow): Promise<Finding> {
  const { domain, mode } = policy
  const records = policyRecords(policy, config.hostname).filter(policyRecord => policyRecord.required)
  const missing: string[] = []
  for (const { type, name, value } of records) {
    if (type === 'CNAME') {
      const { addresses, failed } = await resolveAddresses(resolver, name)
      if (addresses.length === 0 && failed === null) missing.push(`${name} has no address`)
      continue
    }
    const answer = await resolver.resolve(name, 'TXT', { bypassCache: true })
    const same = (text: string) => text.replace(/[\s;]+/g, ';').replace(/;$/, '')
    const isThere = answer.kind === 'found' && answer.records.some(record => same(record) === same(value))
    if (!isThere && answer.kind !== 'failed') missing.push(`${name} does not say "${value}"`)
  }
  if (missing.length === 0) return ok(`${domain} (${mode})`)
  const todo = `Publish what ./mailroom domain mta-sts ${domain} ${mode === 'none' ? 'off' : mode} names: senders do not hear of the policy, or of its change.`
  return mode === 'enforce' ? warning(missing.join('; '), todo) : note(missing.join('; '), todo)
}

/** This one asks no other machine. */
export const certificateCheck: DoctorCheck = certificate

export const tlsChecks: readonly DoctorCheck[] = [certificate, mtaSts]
