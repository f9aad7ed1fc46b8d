import { Link } from '@tanstack/react-router'
import type { Today } from '../../api/organization-health.ts'
import { Section } from '../../components/layout/Section.tsx'
import { Status } from '../../components/text/Status.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { isEmailStatus, statusTone } from '../sent/email-status.ts'
import { statusHints } from '../sent/status-hints.ts'
import { todayStrings as strings } from './strings.ts'

const whole = new Intl.NumberFormat('en')

/** How many emails of the last day have each status, in the API's words; each opens the list of them. */
export function StatusTotals({ statuses }: { readonly statuses: NonNullable<Today['statuses']> }) {
  const { organization } = useOrganization()
  const shown = statuses.filter(({ count }) => count > 0)
  return (
    <Section title={strings.statuses} hint={strings.statusesHint}>
      {shown.length === 0 ? (
        <p className="text-muted">{strings.noStatuses}</p>
      ) : (
        <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-4">
          {shown.map(({ status, count, more }) => (
            <li key={status}>
              <Link
                to="/$organization/sent"
                params={{ organization: organization.id }}
                search={({ brand }: { brand?: string }) => ({
                  ...(brand !== undefined && { brand }),
                  ...(isEmailStatus(status) && { status }),
                })}
                title={isEmailStatus(status) ? statusHints[status] : undefined}
                className="block rounded-lg border border-line bg-surface px-3 py-2.5 hover:bg-hover"
              >
                <span className="tabular block text-xl font-semibold tracking-tight">
                  {whole.format(count)}
                  {more && '+'}
                </span>
                <Status tone={statusTone(status)}>{status}</Status>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
