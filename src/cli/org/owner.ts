import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { findOrganization } from '../../accounts/organizations/organizations.ts'
import { type EnsuredOwner, ensureOwner, type OwnerRequest } from '../../accounts/organizations/owners.ts'
import { systemClock } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import { defineCommand, type Environment } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { printLink } from '../login-link.ts'
import { emailAddress, organizationId } from '../values.ts'

/** The option of a command that makes an owner. */
export const operatorFlag = {
  description: 'the owner also operates this instance, as with ./mailroom operator add',
} as const

export const ownerCommand = defineCommand({
  name: 'org owner',
  summary: 'Make a person an owner, and print a link that signs them in to the dashboard',
  details: `The link is good for one sign-in within 24 hours. Running the command again makes another link, until they have signed
in; then it changes nothing.`,
  arguments: { id: organizationId, email: emailAddress },
  options: { operator: operatorFlag },
  async run({ id, email, operator }, { env }) {
    const owner = await withDatabase(env, db =>
      inTransaction(db, async tx => {
        if (!(await findOrganization(tx, id))) throw new CommandError(`There is no organization ${id}.`)
        return createOwner(tx, { organizationId: id, email, isOperator: operator }, env)
      }),
    )
    const printed = printOwner(env, owner)
    return { json: printed.json, text: printed.text }
  },
})

/** Makes an owner, with audit entries, in the caller's transaction. @throws CommandError when they have another role */
export async function createOwner(db: Db, request: OwnerRequest, env: Environment): Promise<EnsuredOwner> {
  const owner = await ensureOwner(db, request, systemClock)
  const { memberId, email, role, wasMember, newOperator, link } = owner
  if (role !== 'owner')
    throw new CommandError(
      `${email} is a member with the role ${role} already. To make them an owner: ./mailroom member role ${memberId} owner`,
    )
  const record = (action: string, subject: string) => {
    const entry = { action, subject, detail: { email }, organizationId: request.organizationId }
    return recordAuditEntry(db, currentOperator(env), entry)
  }
  if (!wasMember) await record('member.add', memberId)
  if (newOperator) await record('operator.add', newOperator)
  if (link) await record('member.link', memberId)
  return owner
}

/** An owner as commands print one. */
export function printOwner(env: Environment, { memberId, email, link }: EnsuredOwner) {
  const printed = link && printLink(env, email, link)
  return {
    json: { id: memberId, email, ...(printed?.json ?? { link: null, link_expires_at: null }) },
    text: printed?.text ?? `${email} is an owner, and has signed in already.`,
  }
}
