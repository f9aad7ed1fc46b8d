import { readFileSync } from 'node:fs'
import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { httpsHost } from '../../app/certificates.ts'
import { systemClock } from '../../base/clock.ts'
import { type Config, readConfig } from '../../base/config/config.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { type MtaStsMode, policyRecords, policyText, setPolicy } from '../../domains/mta-sts/mta-sts.ts'
import { selectPolicy } from '../../domains/mta-sts/table.ts'
import { selectClaim } from '../../domains/table.ts'
import { canonicalDomain } from '../../mail/address.ts'
import { selectIssuedCertificate } from '../../ports/certificates/acme/table.ts'
import { type ChainTrust, checkChain } from '../../ports/certificates/chain-trust.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'
import { currentOperator } from '../operator.ts'

const modes: Readonly<Record<string, MtaStsMode>> = { testing: 'testing', enforce: 'enforce', off: 'none' }

/**
 * `domain mta-sts DOMAIN testing|enforce|off`: gives a domain that receives here a policy of RFC 8461, and names the records
 * that go with it.
 */
export async function runMtaSts(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { words } = readArguments(args, { words: ['DOMAIN', 'testing, enforce or off'] })
  const [word = '', wanted = ''] = words
  const domain = canonicalDomain(word)
  const mode = Object.hasOwn(modes, wanted) ? modes[wanted] : undefined
  if (domain === undefined) throw new UsageError(`"${word}" is not a domain name`)
  if (mode === undefined) throw new UsageError(`mta-sts takes testing, enforce or off, not "${wanted}"`)
  const config = readConfig({ ...env, MAILROOM_ROLES: 'http' })
  return withDatabase(env, async db => {
    const claim = await selectClaim(db, domain)
    if (!claim?.identity_verified) throw new CommandError(`${domain} does not receive its mail here.`)
    if (mode === 'none' && !(await selectPolicy(db, domain))) throw new CommandError(`${domain} has no policy.`)
    const trust = await checkOurCertificate(db, config)
    if (mode === 'enforce' && trust.kind === 'bad')
      throw new CommandError(
        `Senders that enforce the policy would send nothing: of the certificate for ${config.hostname}, ${trust.why}.`,
      )
    const policy = await inTransaction(db, async tx => {
      await recordAuditEntry(tx, currentOperator(env), {
        action: 'domain.mta_sts',
        subject: `domain:${domain}`,
        detail: { mode: wanted },
      })
      return setPolicy({ db: tx, clock: systemClock }, domain, mode)
    })
    const records = policyRecords(policy, httpsHost(config))
    const text = policyText(policy.mode, config.hostname)
    const warnings = warningsOf(config, trust, mode)
    return {
      json: { domain, mode: wanted, id: policy.policy_id, policy: text, dns_records: records, warnings },
      text: [
        `${domain}: the policy is ${wanted}.`,
        mode === 'none'
          ? 'Leave these records for two weeks, with the policy that ends the last one; then they may go:'
          : 'Publish:',
        ...records.map(
          record => `  ${record.name}  ${record.type}  "${record.value}"${record.required ? '' : '  (recommended)'}`,
        ),
        ...warnings.map(warning => `Note: ${warning}`),
      ].join('\n'),
    }
  })
}

/** What senders make of the certificate that STARTTLS shows. */
async function checkOurCertificate(db: Db, { hostname, tlsCert }: Config): Promise<ChainTrust> {
  const now = new Date()
  const inFile = tlsCert === undefined ? undefined : checkChain(readFileSync(tlsCert, 'utf8'), hostname, now)
  if (inFile && inFile.kind !== 'bad') return inFile
  const issued = await selectIssuedCertificate(db, hostname)
  return issued ? checkChain(issued.chain, hostname, now) : (inFile ?? { kind: 'bad', why: 'there is none' })
}

function warningsOf({ httpsListen, hostname }: Config, trust: ChainTrust, mode: MtaStsMode): readonly string[] {
  const notes: string[] = []
  if (!httpsListen)
    notes.push(
      'MAILROOM_HTTPS_LISTEN is not set: a reverse proxy must serve the policy host by HTTPS, with a certificate for it, and pass the Host header on.',
    )
  if (mode === 'none') return notes
  if (trust.kind === 'bad')
    notes.push(`the certificate for ${hostname} is not yet good enough to enforce: ${trust.why}.`)
  if (trust.kind === 'unknown_root')
    notes.push(`the certificate for ${hostname} comes from ${trust.issuer}, which most senders do not know.`)
  return notes
}
