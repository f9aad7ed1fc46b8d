import type { Id } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import { maxSelectedEmails, queueStatuses, resolveSelection } from '../../sending/queue/selection.ts'
import type { QueueFilter } from '../../sending/queue/table.ts'
import { choice, domainName, organizationId } from '../values.ts'

/** The options that select recipients in the queue. */
export const filterOptions = {
  org: { ...organizationId, description: 'only those of this organization' },
  domain: { ...domainName, description: 'only recipients at this domain' },
  status: { ...choice(queueStatuses), description: 'only recipients with this status' },
}

interface FilterValues {
  readonly org: Id<'org'> | undefined
  readonly domain: string | undefined
  readonly status: (typeof queueStatuses)[number] | undefined
}

export function queueFilter({ org, domain, status }: FilterValues): QueueFilter {
  return {
    ...(org !== undefined && { organizationId: org }),
    ...(domain !== undefined && { destination: domain }),
    ...(status !== undefined && { status }),
  }
}

/** The recipients that a command changes: they have to be named in one of the three ways. @throws UsageError */
export function requireSelection(emailIds: readonly Id<'eml'>[], values: FilterValues, isAll: boolean): QueueFilter {
  const selected = resolveSelection({ emailIds, filter: queueFilter(values), isAll })
  switch (selected) {
    case 'nothing_selected':
      throw new UsageError('say which ones: emails by id, --org, --domain or --status, or --all')
    case 'several_ways':
      throw new UsageError('give emails by id, or --org, --domain and --status, or --all')
    case 'too_many_emails':
      throw new UsageError(`${emailIds.length} emails are too many; at most ${maxSelectedEmails}`)
    default:
      return selected
  }
}
