import { readFileSync } from 'node:fs'
import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { httpsHost } from '../../app/certificates.ts'
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../base/config/config.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import { type MtaStsMode, policyRecords, policyText, setPolicy } from '../../domains/mta-sts/mta-sts.ts'
import { selectPolicy } from '../../domains/mta-sts/table.ts'
import { selectClaim } from '../../domains/receiving-claim-table.ts'
import { selectIssuedCertificate } from '../../ports/certificates/acme/table.ts'
import { type ChainTrust, checkChain } from '../../ports/certificates/chain-trust.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { readCommandConfig, withDatabase } from '../database.ts'
import { choice, domainName } from '../values.ts'

const policyModes = { testing: 'testing', enforce: 'enforce', off: 'none' } as const satisfies Record<
  string,
  MtaStsMode
>
const modes = ['testing', 'enforce', 'off'] as const

export const mtaSts = defineCommand({
  name: 'domain mta-sts',
  summary: 'Set the MTA-STS policy of a domain, and print its records',
  details: `Senders follow the policy of a domain that receives its mail here (RFC 8461). With testing they only report
what would have failed: begin with it, and go on to enforce when the reports show no failures. With enforce they send only
over TLS, to a server with a trusted certificate for MAILROOM_HOSTNAME, which this command checks. off ends the policy.`,
  arguments: { domain: domainName, mode: { ...choice(modes), placeholder: 'MODE', description: modes.join(', ') } },
  async run({ domain, mode }, { env }) {
    const policyMode = policyModes[mode]
    const config = readCommandConfig(env)
    return withDatabase(env, async db => {
      const trust = await requireReady(db, config, domain, policyMode)
      const policy = await inTransaction(db, async tx => {
        const entry = { action: 'domain.mta_sts', subject: `domain:${domain}`, detail: { mode } }
        await recordAuditEntry(tx, currentOperator(env), entry)
        return setPolicy({ db: tx, clock: systemClock }, domain, policyMode)
      })
      const records = policyRecords(policy, httpsHost(config))
      const text = policyText(policy.mode, config.hostname)
      const warnings = warningsOf(config, trust, policyMode)
      return {
        json: { domain, mode, id: policy.policy_id, policy: text, dns_records: records, warnings },
        text: [
          `${domain}: the policy is ${mode}.`,
          policyMode === 'none'
            ? 'Keep these records for two weeks, so that senders learn that the policy has ended; then remove them:'
            : 'Publish:',
          ...records.map(
            record => `  ${record.name}  ${record.type}  "${record.value}"${record.required ? '' : '  (recommended)'}`,
          ),
          ...warnings.map(warning => `Note: ${warning}`),
        ].join('\n'),
      }
    })
  },
})

/** Can the policy get this mode? Gives what senders think of our certificate. @throws CommandError */
async function requireReady(db: Db, config: Config, domain: string, mode: MtaStsMode): Promise<ChainTrust> {
  const claim = await selectClaim(db, domain)
  if (!claim?.identity_verified) throw new CommandError(`${domain} does not receive its mail here.`)
  if (mode === 'none' && !(await selectPolicy(db, domain))) throw new CommandError(`${domain} has no policy.`)
  const trust = await checkOurCertificate(db, config)
  if (mode === 'enforce' && trust.kind === 'invalid')
    throw new CommandError(
      `Senders that enforce the policy would stop sending: the certificate for ${config.hostname} is not trusted: ${trust.why}.`,
    )
  return trust
}

/** Would senders trust the certificate that our SMTP server shows after STARTTLS? */
async function checkOurCertificate(db: Db, { hostname, tlsCert }: Config): Promise<ChainTrust> {
  const now = new Date()
  const inFile = tlsCert === undefined ? undefined : checkChain(readFileSync(tlsCert, 'utf8'), hostname, now)
  if (inFile && inFile.kind !== 'invalid') return inFile
  const issued = await selectIssuedCertificate(db, hostname)
  return issued ? checkChain(issued.chain, hostname, now) : (inFile ?? { kind: 'invalid', why: 'there is none' })
}

function warningsOf({ httpsListen, hostname }: Config, trust: ChainTrust, mode: MtaStsMode): readonly string[] {
  const notes: string[] = []
  if (!httpsListen)
    notes.push(
      'MAILROOM_HTTPS_LISTEN is not set: a reverse proxy must serve the policy host over HTTPS, with a certificate for it, and pass on the Host header.',
    )
  if (mode === 'none') return notes
  if (trust.kind === 'invalid') notes.push(`the certificate for ${hostname} does not allow enforce yet: ${trust.why}.`)
  if (trust.kind === 'unknown_root')
    notes.push(`the certificate for ${hostname} comes from ${trust.issuer}, which most senders do not trust.`)
  return notes
}
