import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { idleMs } from '../accounts/sessions/authenticate.ts'
import {
  deleteSessions,
  type OwnedSessionRow,
  type SessionFilter,
  selectOwnedSessions,
} from '../accounts/sessions/operator-sessions-table.ts'
import { plusMs, systemClock, toIso } from '../base/clock.ts'
import { inTransaction } from '../base/database/database.ts'
import { pluralize } from '../base/format.ts'
import { UsageError } from '../base/operator-error.ts'
import { defineCommand, defineGroup } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { sanitizeForTerminal } from './terminal-text.ts'
import { emailAddress, limit, sessionId } from './values.ts'

const list = defineCommand({
  name: 'session list',
  summary: 'List where people are signed in to the dashboard',
  details: 'The newest comes first.',
  options: { email: { ...emailAddress, description: 'only those of this person' }, limit },
  async run({ email, limit }, { env }) {
    const now = systemClock.now()
    const live = { now, usedAfter: plusMs(now, -idleMs), limit }
    const rows = await withDatabase(env, db => selectOwnedSessions(db, email === undefined ? {} : { email }, live))
    return { json: rows.map(toJsonSession), text: rows.map(describe).join('\n') || 'Nobody is signed in.' }
  },
})

const end = defineCommand({
  name: 'session end',
  summary: 'Sign people out, from their next request on',
  details: 'They can sign in again: to keep somebody out, remove them as a member and as an operator.',
  arguments: { ids: { ...sessionId, description: 'end these sessions', repeatable: true } },
  options: {
    email: { ...emailAddress, description: 'end all sessions of this person' },
    all: { description: 'end all sessions of everyone' },
  },
  async run({ ids, email, all }, { env }) {
    if ([ids.length > 0, email !== undefined, all].filter(isGiven => isGiven).length !== 1)
      throw new UsageError('give either the ids of sessions, or --email, or --all')
    const filter: SessionFilter = ids.length > 0 ? { ids } : email === undefined ? {} : { email }
    const ended = await withDatabase(env, db =>
      inTransaction(db, async tx => {
        const ended = await deleteSessions(tx, filter)
        const subject = email ?? (all ? 'all' : ids.join(' '))
        await recordAuditEntry(tx, currentOperator(env), { action: 'session.end', subject, detail: { ended } })
        return ended
      }),
    )
    return { json: { ended }, text: `Ended ${pluralize(ended, 'session')}.` }
  },
})

export const sessionCommand = defineGroup('session', databaseNote, [list, end])

function toJsonSession({ created_at, last_used_at, expires_at, ...row }: OwnedSessionRow) {
  return {
    ...row,
    created_at: toIso(created_at),
    last_used_at: toIso(last_used_at),
    expires_at: toIso(expires_at),
  }
}

function describe(row: OwnedSessionRow): string {
  const { id, email, ip, user_agent, last_used_at } = toJsonSession(row)
  return `${id}  ${email}  ${ip}  last used ${last_used_at}\n  ${sanitizeForTerminal(user_agent ?? 'unknown browser')}`
}
