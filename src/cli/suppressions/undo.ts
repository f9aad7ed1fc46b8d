import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import type { Instant } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import { undoSuppressions } from '../../sending/suppressions/undo.ts'
import type { SuppressionIncident } from '../../sending/suppressions/undo-table.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireOrganization } from '../require-organization.ts'
import { dryRun, organizationId, time } from '../values.ts'
import { openUndoReport } from './undo-report.ts'

export const undo = defineCommand({
  name: 'suppressions undo',
  summary: 'Remove the wrong suppressions of an incident from the lists',
  details: `Removes suppressions that were added automatically, for bounces and complaints, when they were wrong: a relay
answered 550 5.1.1 for everyone, or a provider reported what did not happen. What people added stays, and so does the fact
that someone unsubscribed. Give at least one of --reply, --provider, and --from with --to; where several are given, all must
match.

Each removed address is printed with its cause, a few hundred at a time as they are removed. If the command is interrupted,
the next run removes the rest; the output may lack the last few hundred.`,
  options: {
    reply: { placeholder: 'TEXT', description: 'whose reply or report contains this text, in upper or lower case' },
    provider: { placeholder: 'NAME', description: 'of emails that this provider delivered' },
    from: { ...time, description: 'added at this time or later, such as 2027-01-31T08:00:00Z' },
    to: { ...time, description: 'added before this time' },
    org: { ...organizationId, description: 'of this organization; without it of all' },
    'dry-run': dryRun,
  },
  async run({ 'dry-run': isDryRun, ...options }, { env, format }) {
    const incident = requireIncident(options)
    const report = openUndoReport(format, isDryRun)
    await withDatabase(env, async db => {
      if (incident.organizationId !== undefined) await requireOrganization(db, incident.organizationId)
      const subject = incident.organizationId ?? 'all'
      const entry = { action: 'suppressions.undo', subject, detail: { ...incident } }
      if (!isDryRun) await recordAuditEntry(db, currentOperator(env), entry)
      await Bun.write(Bun.stdout, report.begin())
      const progress = openProgressLine('suppressions checked')
      try {
        for await (const { checkedCount, undone } of undoSuppressions(db, incident, isDryRun)) {
          await Bun.write(Bun.stdout, report.add(undone))
          progress.report(checkedCount)
        }
      } finally {
        progress.end()
      }
    })
    await Bun.write(Bun.stdout, report.end())
    return null
  },
})

interface IncidentOptions {
  readonly reply: string | undefined
  readonly provider: string | undefined
  readonly from: Instant | undefined
  readonly to: Instant | undefined
  readonly org: Id<'org'> | undefined
}

/** @throws UsageError */
function requireIncident({ reply, provider, from, to, org }: IncidentOptions): SuppressionIncident {
  if ((from === undefined) !== (to === undefined)) throw new UsageError('--from and --to go together; one is missing')
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError('--from is not before --to')
  if (reply?.trim() === '' || provider?.trim() === '') throw new UsageError('--reply and --provider need some text')
  if (reply === undefined && provider === undefined && from === undefined)
    throw new UsageError('say which ones: --reply, --provider, or --from and --to')
  return {
    ...(reply !== undefined && { reply }),
    ...(provider !== undefined && { provider }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(org !== undefined && { organizationId: org }),
  }
}
