import type { Id } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import type { QueueFilter } from '../../sending/queue/table.ts'
import { choice, domainName, organizationId } from '../values.ts'

const statuses = ['scheduled', 'queued', 'delayed'] as const

/** The most that one statement can name. */
const maxEmails = 1000

/** The options that select recipients in the queue. */
export const filterOptions = {
  org: { ...organizationId, description: 'only those of this organization' },
  domain: { ...domainName, description: 'only recipients at this domain' },
  status: { ...choice(statuses), description: 'only recipients with this status' },
}

interface FilterValues {
  readonly org: Id<'org'> | undefined
  readonly domain: string | undefined
  readonly status: (typeof statuses)[number] | undefined
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
  const filter = queueFilter(values)
  const ways = [emailIds.length > 0, Object.keys(filter).length > 0, isAll].filter(Boolean).length
  if (ways === 0) throw new UsageError('say which ones: emails by id, --org, --domain or --status, or --all')
  if (ways > 1) throw new UsageError('give emails by id, or --org, --domain and --status, or --all')
  if (emailIds.length > maxEmails) throw new UsageError(`${emailIds.length} emails are too many; at most ${maxEmails}`)
  return emailIds.length > 0 ? { emailIds } : filter
}
