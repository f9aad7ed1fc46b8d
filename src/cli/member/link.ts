import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { findMember } from '../../accounts/members/members.ts'
import { createLoginLink } from '../../accounts/sessions/login-links.ts'
import { systemClock } from '../../base/clock.ts'
import { inTransaction } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { printLink } from '../login-link.ts'
import { memberId } from '../values.ts'

export const linkCommand = defineCommand({
  name: 'member link',
  summary: 'Print a link that signs a member in: the first time, or without their factors',
  details: `The link is good for one sign-in within 24 hours, and needs neither a password nor a passkey: it is the way in for a
member who never signed in, and the way back for one who lost every passkey, authenticator and backup code. Send it over a
channel that you trust. The audit log names who made it.`,
  arguments: { id: memberId },
  async run({ id }, { env }) {
    const { email, link } = await withDatabase(env, db =>
      inTransaction(db, async tx => {
        const member = await findMember(tx, id)
        if (!member) throw new CommandError(`There is no member ${id}.`)
        const { email, organizationId } = member
        const link = await createLoginLink(tx, { memberId: id }, systemClock)
        const entry = { action: 'member.link', subject: id, detail: { email }, organizationId }
        await recordAuditEntry(tx, currentOperator(env), entry)
        return { email, link }
      }),
    )
    const printed = printLink(env, email, link)
    return { json: { id, email, ...printed.json }, text: printed.text }
  },
})
