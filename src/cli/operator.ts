import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { addOperator, listOperators, removeOperator } from '../accounts/users/operators.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { inTransaction } from '../base/database/database.ts'
import { CommandError } from '../base/operator-error.ts'
import { defineCommand, defineGroup } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { printLink } from './login-link.ts'
import { emailAddress } from './values.ts'

const add = defineCommand({
  name: 'operator add',
  summary: 'Let a person operate this instance in the dashboard',
  details: `An operator sees and changes in the dashboard what these commands do: the queue, the quarantine, backups, all
organizations. No role in an organization makes one. Whoever has no account yet gets one, and a link that signs them in; so
does whoever has not signed in yet.`,
  arguments: { email: emailAddress },
  async run({ email }, { env }) {
    const added = await withDatabase(env, db =>
      inTransaction(db, async tx => {
        const added = await addOperator(tx, email, systemClock)
        const entry = { action: 'operator.add', subject: added.userId, detail: { email } }
        await recordAuditEntry(tx, currentOperator(env), entry)
        return added
      }),
    )
    const { userId, name, wasOperator, accountCreatedAt } = added
    const printed = added.link && printLink(env, email, added.link)
    const done = `${email} ${wasOperator ? 'was an operator already' : 'is an operator'}.`
    return {
      json: { id: userId, email, name, ...(printed?.json ?? { link: null, link_expires_at: null }) },
      text: printed
        ? `${done} ${printed.text}`
        : `${done} This is the account of ${name}, created ${toIso(accountCreatedAt).slice(0, 10)}: they sign in as they do already. If that is somebody else, run: ./mailroom operator remove ${email}`,
    }
  },
})

const remove = defineCommand({
  name: 'operator remove',
  summary: 'Let a person no longer operate this instance, from their next request on',
  details: 'Their account and their roles in organizations stay.',
  arguments: { email: emailAddress },
  async run({ email }, { env }) {
    const id = await withDatabase(env, db => removeOperator(db, currentOperator(env), email))
    if (id === undefined) throw new CommandError(`${email} is not an operator.`)
    return { json: { id, email, removed: true }, text: `${email} is no operator any more.` }
  },
})

const list = defineCommand({
  name: 'operator list',
  summary: 'List the people who operate this instance',
  async run(_values, { env }) {
    const operators = (await withDatabase(env, listOperators)).map(operator => ({
      id: operator.userId,
      email: operator.email,
      name: operator.name,
      since: toIso(operator.since),
      last_sign_in_at: operator.lastSignInAt && toIso(operator.lastSignInAt),
    }))
    const lines = operators.map(
      ({ email, name, since, last_sign_in_at }) =>
        `${email}  ${name}  (since ${since.slice(0, 10)}; last signed in ${last_sign_in_at ?? 'never'})`,
    )
    return { json: operators, text: lines.join('\n') || 'There are no operators: ./mailroom operator add EMAIL.' }
  },
})

export const operatorCommand = defineGroup('operator', databaseNote, [add, remove, list])
