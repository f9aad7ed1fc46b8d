import { makeOwnerByOperator } from '../../accounts/organizations/operator-changes.ts'
import { findOrganization } from '../../accounts/organizations/organizations.ts'
import type { EnsuredOwner } from '../../accounts/organizations/owners.ts'
import { inTransaction } from '../../base/database/database.ts'
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
        return makeOwnerByOperator(tx, currentOperator(env), { organizationId: id, email, isOperator: operator })
      }),
    )
    if (owner.role !== 'owner')
      throw new CommandError(
        `${email} is a member with the role ${owner.role} already. To make them an owner: ./mailroom member role ${owner.memberId} owner`,
      )
    const printed = printOwner(env, owner)
    return { json: printed.json, text: printed.text }
  },
})

/** An owner as commands print one. */
export function printOwner(env: Environment, { memberId, email, link }: EnsuredOwner) {
  const printed = link && printLink(env, email, link)
  return {
    json: { id: memberId, email, ...(printed?.json ?? { link: null, link_expires_at: null }) },
    text: printed?.text ?? `${email} is an owner, and has signed in already.`,
  }
}
