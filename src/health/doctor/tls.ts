import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hasUsers } from '../../accounts/users/table.ts'
import { dayMs, millisecondsOf } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import { publicAddress } from '../../base/config/public-address.ts'
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

/** Asks no other machine. */
export const certificateCheck: DoctorCheck = {
  name: 'certificate',
  area: 'tls',
  async run({ config, db, clock }) {
    if (!config.roles.includes('smtp')) return skipped('this process does not receive mail (MAILROOM_ROLES)')
    const { tlsCert, tlsKey, hostname } = config
    const now = new Date(millisecondsOf(clock.now()))
    const inFile = tlsCert && tlsKey ? await checkCertificateFiles(tlsCert, tlsKey, hostname, now) : undefined
    if (inFile && (inFile.level === 'ok' || config.acmeDirectory === undefined)) return inFile
    if (config.acmeDirectory !== undefined) return await checkIssuedCertificate(db, hostname, now)
    return warning(
      'there is no certificate: STARTTLS is not offered, mail comes unencrypted, and servers that require TLS send none',
      'Set MAILROOM_TLS_CERT and MAILROOM_TLS_KEY, or MAILROOM_ACME_DIRECTORY to have one issued.',
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
      'Find out why it was not renewed (certbot renew). A new certificate in MAILROOM_TLS_CERT is loaded without a restart.',
    )
  } catch (thrown) {
    if (!(thrown instanceof CertificateError) && !(thrown instanceof Error && 'syscall' in thrown)) throw thrown
    return error(
      `the certificate cannot be used: ${(thrown as Error).message}`,
      'Set MAILROOM_TLS_CERT to the certificate chain and MAILROOM_TLS_KEY to its key, both PEM, and let the account that runs Mailroom read them.',
    )
  }
}

async function checkIssuedCertificate(db: Db, hostname: string, now: Date): Promise<Finding> {
  const [listed] = await selectCertificates(db, [hostname])
  const issued = await selectIssuedCertificate(db, hostname)
  const todo =
    'Check that port 80 of this name reaches MAILROOM_ACME_LISTEN from the Internet; the log has what the certificate authority answered.'
  const reason = listed?.last_error ? ` (${listed.last_error})` : ''
  if (!issued) return warning(`no certificate has been issued for ${hostname} yet${reason}`, todo)
  return assessChain(issued.chain, hostname, now, `${todo}${reason}`)
}

/** Checks a chain as a sender would; `renewalTodo`: what to do when it has not been renewed. */
function assessChain(chain: string, hostname: string, now: Date, renewalTodo: string): Finding {
  const [first] = readChain(chain)
  if (!first) return error('there is no certificate in the file', renewalTodo)
  const [from, until] = [new Date(first.validFrom).getTime(), new Date(first.validTo).getTime()]
  const left = until - now.getTime()
  if (left <= 0) return error(`the certificate expired at ${new Date(until).toISOString()}`, renewalTodo)
  const trust = checkChain(chain, hostname, now)
  const days = `${pluralize(Math.floor(left / dayMs), 'day')} left`
  const findings: Finding[] = [
    left < Math.min(expiresSoonMs, (until - from) / 5)
      ? warning(`the certificate has ${days}`, renewalTodo)
      : ok(`the certificate for ${hostname} has ${days}`),
  ]
  if (trust.kind === 'invalid')
    findings.push(
      warning(
        `senders that verify the certificate reject it: ${trust.why}`,
        `Use a certificate for ${hostname} from a public certificate authority. Most senders do not verify it, and still send encrypted; those that verify it (MTA-STS, DANE) send nothing.`,
      ),
    )
  if (trust.kind === 'unknown_root')
    findings.push(
      warning(
        `the chain ends at ${trust.issuer}, which is not a public certificate authority`,
        'Add the intermediate certificates to the file, after the certificate (use fullchain.pem of certbot). Ignore this if you use an authority of your own.',
      ),
    )
  return combineFindings(findings)
}

/** Asks no other machine. */
export const dashboardCheck: DoctorCheck = {
  name: 'dashboard',
  area: 'tls',
  async run({ config, db }) {
    if (!config.roles.includes('http')) return skipped('this process does not serve the dashboard (MAILROOM_ROLES)')
    if (!(await hasUsers(db))) return skipped('nobody has an account in the dashboard')
    return assessDashboardUrl(config)
  },
}

function assessDashboardUrl(config: Pick<Config, 'publicUrl' | 'httpListen' | 'provider'>): Finding {
  const address = publicAddress(config)
  const { protocol, hostname } = new URL(address)
  const todo =
    'Set MAILROOM_PUBLIC_URL to the https address by name of a reverse proxy, or of MAILROOM_HTTPS_LISTEN; docs/operations.md, "HTTPS for the dashboard", says how.'
  if (protocol === 'https:' && isIP(hostname.replace(/[[\]]/g, '')) !== 0)
    return warning(`the dashboard is at ${address}/app: browsers offer no passkeys for an IP address`, todo)
  const isTrial = config.publicUrl === undefined && config.provider === 'sandbox'
  if (protocol === 'https:' || isTrial) return ok(`the dashboard is at ${address}/app`)
  const why = config.publicUrl === undefined ? 'MAILROOM_PUBLIC_URL is not set' : `MAILROOM_PUBLIC_URL is ${address}`
  return warning(`${why}: nobody can sign in to the dashboard from another machine`, todo)
}

const mtaStsCheck: DoctorCheck = {
  name: 'mta_sts',
  area: 'tls',
  async run(deps) {
    const { db, clock } = deps
    const domains = await selectPolicyDomains(db, clock.now(), maxPolicies)
    const found = await Promise.all(domains.map(domain => selectPolicy(db, domain)))
    const policies = found.filter(policy => policy !== undefined)
    if (policies.length === 0) return skipped('no domain has an MTA-STS policy (./mailroom domain mta-sts)')
    return combineFindings(await Promise.all(policies.map(policy => checkPolicyRecords(deps, policy))))
  },
}

async function checkPolicyRecords({ resolver, config }: DoctorDeps, policy: MtaStsPolicyRow): Promise<Finding> {
  const { domain, mode } = policy
  const records = policyRecords(policy, config.hostname).filter(record => record.required)
  const missing: string[] = []
  for (const { type, name, value } of records) {
    if (type === 'CNAME') {
      const { addresses, failed } = await resolveAddresses(resolver, name)
      if (addresses.length === 0 && failed === null) missing.push(`${name} has no address`)
      continue
    }
    const answer = await resolver.resolve(name, 'TXT', { bypassCache: true })
    const normalized = (text: string) => text.replace(/[\s;]+/g, ';').replace(/;$/, '')
    const isPublished =
      answer.kind === 'found' && answer.records.some(record => normalized(record) === normalized(value))
    if (!isPublished && answer.kind !== 'failed') missing.push(`${name} has no TXT record "${value}"`)
  }
  if (missing.length === 0) return ok(`${domain} (${mode})`)
  const todo = `Publish the records that ./mailroom domain mta-sts ${domain} ${mode === 'none' ? 'off' : mode} prints: without them senders do not see the policy, or its change.`
  return mode === 'enforce' ? warning(missing.join('; '), todo) : note(missing.join('; '), todo)
}

export const tlsChecks: readonly DoctorCheck[] = [certificateCheck, dashboardCheck, mtaStsCheck]
