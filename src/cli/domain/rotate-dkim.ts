import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { systemClock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { loadSecrets } from '../../base/secrets/secret-keys.ts'
import { startRotation } from '../../domains/dkim/rotation.ts'
import { type DomainRow, selectDomainsNamed } from '../../domains/table.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { readCommandConfig, withDatabase } from '../database.ts'
import { domainName, organizationId } from '../values.ts'

export const rotateDkim = defineCommand({
  name: 'domain rotate-dkim',
  summary: 'Create the next DKIM key of a domain, and print the name of its record',
  details: `Where Mailroom publishes the records of the domain, it publishes this one too; elsewhere publish it yourself,
as GET /v1/domains/{id} shows it. Once the record is found in DNS, mail is signed with the new key, and the old record can
be removed a week later. Until then nothing changes. The key is sealed with the secret key of MAILROOM_SECRET_KEY, or of
MAILROOM_VAR.`,
  arguments: { domain: domainName },
  options: { org: { ...organizationId, description: 'whose domain it is, where several organizations have it' } },
  async run({ domain, org }, { env }) {
    const config = readCommandConfig(env)
    return withDatabase(env, async db => {
      const row = await findOneDomain(db, domain, org)
      const secrets = await loadSecrets(db, config)
      const { selector, isNew } = await startRotation({ db, clock: systemClock, secrets }, row)
      const entry = { action: 'domain.rotate-dkim', subject: row.id, detail: { domain, selector } }
      if (isNew) await recordAuditEntry(db, currentOperator(env), entry)
      const record = `${selector}._domainkey.${domain}`
      return {
        json: { domain_id: row.id, domain, selector, record, is_new: isNew },
        text: `${isNew ? 'Created the next key' : 'The next key exists already'}: ${record}\nMail is signed with it once that record is found in DNS.`,
      }
    })
  },
})

/** @throws CommandError, UsageError unless there is exactly one */
async function findOneDomain(db: Db, name: string, organizationId: Id<'org'> | undefined): Promise<DomainRow> {
  const all = await selectDomainsNamed(db, name)
  const matching = all.filter(row => organizationId === undefined || row.organization_id === organizationId)
  const [first] = matching
  if (!first) throw new CommandError(`There is no domain ${name}${organizationId ? ` in ${organizationId}` : ''}.`)
  if (matching.length > 1)
    throw new UsageError(
      `${matching.length} organizations have ${name}; choose one with --org: ${matching.map(row => row.organization_id).join(', ')}`,
    )
  return first
}
