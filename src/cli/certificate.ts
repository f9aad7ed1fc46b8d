import { CommandError } from '../base/operator-error.ts'
import { listOrderedCertificates, renewCertificate } from '../health/certificates/certificates.ts'
import { defineCommand, defineGroup } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { domainName } from './values.ts'

const list = defineCommand({
  name: 'certificate list',
  summary: 'List the certificates that Mailroom orders by ACME, and when each is renewed',
  details: 'Those in MAILROOM_TLS_CERT are not listed: an operator renews them.',
  async run(_values, { env }) {
    const certificates = await withDatabase(env, listOrderedCertificates)
    const lines = certificates.map(({ name, issuer, not_after, renews_at, last_error }) => {
      const state = not_after === null ? 'none yet' : `until ${not_after.slice(0, 10)}, of ${issuer}`
      return `${name}  ${state}; ordered ${renews_at?.slice(0, 10)}${last_error === null ? '' : `\n  ${last_error}`}`
    })
    return { json: certificates, text: lines.join('\n') || 'Mailroom orders no certificates.' }
  },
})

const renew = defineCommand({
  name: 'certificate renew',
  summary: 'Order a new certificate for a name now instead of when it is due',
  details:
    'A process with the role smtp or http orders it within seconds. Authorities limit how often that can be done.',
  arguments: { name: { ...domainName, placeholder: 'NAME' } },
  async run({ name }, { env }) {
    const operator = currentOperator(env)
    if (!(await withDatabase(env, db => renewCertificate(db, operator, name))))
      throw new CommandError(`Mailroom orders no certificate for ${name}, or is doing it now.`)
    return { json: { name, due: true }, text: `A certificate for ${name} will be ordered within seconds.` }
  },
})

export const certificateCommand = defineGroup('certificate', databaseNote, [list, renew])
