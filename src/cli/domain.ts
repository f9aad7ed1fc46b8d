import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { systemClock } from '../base/clock.ts'
import { readConfig } from '../base/config/config.ts'
import type { Db } from '../base/database/database.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { loadSecrets } from '../base/secrets/secret-keys.ts'
import { startRotation } from '../domains/dkim/rotation.ts'
import { type DomainRow, selectDomainsNamed } from '../domains/table.ts'
import { canonicalDomain } from '../mail/address.ts'
import { type Command, type CommandOutput, type Environment, readArguments, withDatabase } from './command.ts'
import { runMtaSts } from './domain/mta-sts.ts'
import { readOrganizationId } from './ids.ts'
import { currentOperator } from './operator.ts'

export const domainCommand: Command = {
  usage: `./mailroom domain rotate-dkim DOMAIN [--org ID] [--json]
./mailroom domain mta-sts DOMAIN testing|enforce|off [--json]

rotate-dkim makes the DKIM key that is to follow the one that signs for a domain, and names its record. The record is
  published where Mailroom publishes the domain's records, else by you: GET /v1/domains/{id} shows it. Once DNS shows it,
  mail is signed with the new key, and the old record may go a week later. Until then nothing changes.
  --org says whose domain it is, where several organizations have it.
mta-sts gives a domain that receives here a policy that senders keep to (RFC 8461), and names the records to publish.
  With testing, senders only report what would have failed; begin with it, and go on to enforce once no report complains:
  then they send only over TLS with a certificate for our name, which enforce asks for. off ends the policy.
The database is the one of MAILROOM_DATABASE_URL, the secret key that of MAILROOM_SECRET_KEY or of MAILROOM_VAR.`,

  run([verb, ...args], env) {
    if (verb === 'rotate-dkim') return rotate(args, env)
    if (verb === 'mta-sts') return runMtaSts(args, env)
    throw new UsageError(`domain takes rotate-dkim or mta-sts, not "${verb ?? ''}"`)
  },
}

async function rotate(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { words, options } = readArguments(args, { words: ['DOMAIN'], options: ['org'] })
  const name = canonicalDomain(words[0] ?? '')
  if (name === undefined) throw new UsageError(`"${words[0]}" is not a domain name`)
  const organizationId = options['org'] === undefined ? undefined : readOrganizationId(options['org'])
  const config = readConfig({ ...env, MAILROOM_ROLES: 'http' })
  return withDatabase(env, async db => {
    const found = await findOneDomain(db, name, organizationId)
    const secrets = await loadSecrets(db, config)
    const { selector, isNew } = await startRotation({ db, clock: systemClock, secrets }, found)
    const detail = { domain: name, selector }
    if (isNew)
      await recordAuditEntry(db, currentOperator(env), { action: 'domain.rotate-dkim', subject: found.id, detail })
    const record = `${selector}._domainkey.${name}`
    return {
      json: { domain_id: found.id, domain: name, selector, record, is_new: isNew },
      text: `${isNew ? 'Made the next key' : 'A key waits already'}: ${record}\nIt signs once that record is seen in DNS.`,
    }
  })
}

async function findOneDomain(db: Db, name: string, organizationId: DomainRow['organization_id'] | undefined) {
  const all = await selectDomainsNamed(db, name)
  const found = all.filter(row => organizationId === undefined || row.organization_id === organizationId)
  const [first] = found
  if (!first) throw new CommandError(`There is no domain ${name}${organizationId ? ` in ${organizationId}` : ''}.`)
  if (found.length > 1)
    throw new UsageError(
      `${found.length} organizations have ${name}; say which with --org: ${found.map(row => row.organization_id).join(', ')}`,
    )
  return first
}
