import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { fromIso, type Instant } from '../base/clock.ts'
import { UsageError } from '../base/operator-error.ts'
import { undoSuppressions } from '../sending/suppressions/undo.ts'
import type { SuppressionIncident } from '../sending/suppressions/undo-table.ts'
import { type Command, type Environment, readArguments, withDatabase } from './command.ts'
import { readOrganizationId, requireOrganization } from './ids.ts'
import { currentOperator } from './operator.ts'
import { openProgressLine } from './progress-line.ts'
import { runExport } from './suppressions/export.ts'
import { runImport } from './suppressions/import.ts'
import { openUndoReport } from './suppressions/undo-report.ts'

export const suppressionsCommand: Command = {
  usage: `./mailroom suppressions import FILE|- --org ID [--brand ID] [--format csv|ndjson] [--dry-run] [--json]
./mailroom suppressions export --org ID [--brand ID] [--reason R] [--format csv|ndjson] [--output FILE] [--json]
./mailroom suppressions undo [--reply TEXT] [--provider NAME] [--from TIME --to TIME] [--org ID] [--dry-run] [--json]

import puts the addresses of a file (-: standard input) on the lists. Of CSV the first line names the fields, in any
  order; of NDJSON (usual for .ndjson and .jsonl) each line is an object with them:
    email            the address; nothing else has to be there
    reason           hard_bounce, complaint, unsubscribe or manual, which it is without one
    brand            its id or slug; without it that of --brand, or the only one that the organization has
    created_at, expires_at, unsubscribed_at   times such as 2027-01-31T08:00:00Z
    evidence         a reply or report, for people
  Other fields are passed over. A line that cannot be read is told with its number and why, the others are taken, and the
  exit status is 1. An address that is on the list stays as it is there: the same file may be imported again.
export writes the lists of an organization in that form, the newest first, to standard output or to a new file.
  --reason R        of one reason
undo takes the suppressions that came by themselves, of bounces and complaints, off the lists again, for when they were
  wrong: a relay that answered 550 5.1.1 for everyone, a provider that reported what did not happen. What people put
  there stays, and so does that someone unsubscribed. It prints each address that it let go and what had caused it, a few
  hundred at a time as they go. Ended half way, the next run does the rest; the account may lack the last few hundred.
  --reply TEXT      those whose reply or report holds this text, in any case
  --provider NAME   those of emails that this provider delivered
  --from, --to      those made from a time, such as 2027-01-31T08:00:00Z, up to another
  Of these at least one; where several are given all must hold.
  --org ID          of one organization; without it of all
  --dry-run         change nothing, and say what would be undone
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env, form = 'text') {
    if (verb === 'import') return runImport(args, env)
    if (verb === 'export') return runExport(args, env)
    if (verb === 'undo') return undo(args, env, form)
    throw new UsageError(`suppressions takes import, export or undo, not "${verb ?? ''}"`)
  },
}

async function undo(args: readonly string[], env: Environment, form: 'text' | 'json'): Promise<null> {
  const { options, flags } = readArguments(args, {
    options: ['reply', 'provider', 'from', 'to', 'org'],
    flags: ['dry-run'],
  })
  const incident = readIncident(options)
  const isDry = flags.has('dry-run')
  const account = openUndoReport(form, isDry)
  await withDatabase(env, async db => {
    if (incident.organizationId !== undefined) await requireOrganization(db, incident.organizationId)
    const subject = incident.organizationId ?? 'all'
    if (!isDry)
      await recordAuditEntry(db, currentOperator(env), {
        action: 'suppressions.undo',
        subject,
        detail: { ...incident },
      })
    await Bun.write(Bun.stdout, account.begin())
    const progress = openProgressLine('suppressions looked at')
    try {
      for await (const { checkedCount, undone } of undoSuppressions(db, incident, isDry)) {
        await Bun.write(Bun.stdout, account.add(undone))
        progress.report(checkedCount)
      }
    } finally {
      progress.end()
    }
  })
  await Bun.write(Bun.stdout, account.end())
  return null
}

function readIncident(options: Readonly<Record<string, string | undefined>>): SuppressionIncident {
  const { reply, provider, org } = options
  const from = readTime(options, 'from')
  const to = readTime(options, 'to')
  if ((from === undefined) !== (to === undefined)) throw new UsageError('--from and --to go together; one is absent')
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError('--from is not before --to')
  if (reply?.trim() === '' || provider?.trim() === '') throw new UsageError('--reply and --provider take some text')
  if (reply === undefined && provider === undefined && from === undefined)
    throw new UsageError('say which ones: --reply, --provider, or --from and --to')
  return {
    ...(reply !== undefined && { reply }),
    ...(provider !== undefined && { provider }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(org !== undefined && { organizationId: readOrganizationId(org) }),
  }
}

function readTime(options: Readonly<Record<string, string | undefined>>, name: 'from' | 'to'): Instant | undefined {
  const text = options[name]
  if (text === undefined) return undefined
  const at = fromIso(text)
  if (!at) throw new UsageError(`--${name}: "${text}" is not a time such as 2027-01-31T00:00:00Z`)
  return at
}
