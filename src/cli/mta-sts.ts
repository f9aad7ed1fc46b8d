import { readFileSync } from 'node:fs'
import { recordDeed } from '../accounts/audit/audit.ts'
import { httpsHost } from '../app/certificates.ts'
import { systemClock } from '../base/clock.ts'
import { type Config, readConfig } from '../base/config/config.ts'
import { type Db, inTransaction } from '../base/database/database.ts'
import { CommandTrouble, UsageTrouble } from '../base/operator-error.ts'
import { type PolicyMode, policyRecords, policyText, setPolicy } from '../domains/mta-sts/mta-sts.ts'
import { policyOf } from '../domains/mta-sts/table.ts'
import { claimOn } from '../domains/table.ts'
import { canonicalDomain } from '../mail/address.ts'
import { judgeChain, type Trust } from '../ports/certificates/chain-trust.ts'
import { issuedFor } from '../ports/certificates/table.ts'
import { type Environment, onDatabase, readArgs, type Told } from './command.ts'
import { theOperator } from './operator.ts'

const modes: Readonly<Record<string, PolicyMode>> = { testing: 'testing', enforce: 'enforce', off: 'none' }

/**
 * `domain mta-sts DOMAIN testing|enforce|off`: gives a domain that receives here a policy of RFC 8461, and names the records
 * that go with it.
 */
export async function giveMtaSts(args: readonly string[], env: Environment): Promise<Told> {
  const { words } = readArgs(args, { words: ['DOMAIN', 'testing, enforce or off'] })
  const [word = '', wanted = ''] = words
  const domain = canonicalDomain(word)
  const mode = Object.hasOwn(modes, wanted) ? modes[wanted] : undefined
  if (domain === undefined) throw new UsageTrouble(`"${word}" is not a domain name`)
  if (mode === undefined) throw new UsageTrouble(`mta-sts takes testing, enforce or off, not "${wanted}"`)
  const config = readConfig({ ...env, MAILROOM_ROLES: 'http' })
  return onDatabase(env, async db => {
    const claim = await claimOn(db, domain)
    if (!claim?.identity_verified) throw new CommandTrouble(`${domain} does not receive its mail here.`)
    if (mode === 'none' && !(await policyOf(db, domain))) throw new CommandTrouble(`${domain} has no policy.`)
    const trust = await judgeOurs(db, config)
    if (mode === 'enforce' && trust.kind === 'bad')
      throw new CommandTrouble(
        `Senders that enforce the policy would send nothing: of the certificate for ${config.hostname}, ${trust.why}.`,
      )
    const policy = await inTransaction(db, async tx => {
      await recordDeed(tx, theOperator(env), {
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
          each => `  ${each.name}  ${each.type}  "${each.value}"${each.required ? '' : '  (recommended)'}`,
        ),
        ...warnings.map(each => `Note: ${each}`),
      ].join('\n'),
    }
  })
}

/** What senders make of the certificate that STARTTLS shows. */
async function judgeOurs(db: Db, { hostname, tlsCert }: Config): Promise<Trust> {
  const now = new Date()
  const inFile = tlsCert === undefined ? undefined : judgeChain(readFileSync(tlsCert, 'utf8'), hostname, now)
  if (inFile && inFile.kind !== 'bad') return inFile
  const issued = await issuedFor(db, hostname)
  return issued ? judgeChain(issued.chain, hostname, now) : (inFile ?? { kind: 'bad', why: 'there is none' })
}

function warningsOf({ httpsListen, hostname }: Config, trust: Trust, mode: PolicyMode): readonly string[] {
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
