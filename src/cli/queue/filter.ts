import type { Id } from '../../base/ids.ts'
import { isId } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import type { QueueFilter } from '../../sending/queue/table.ts'
import type { ParsedArguments } from '../command.ts'
import { readOrganizationId } from '../ids.ts'
import { readDomain, readOneOf } from '../option-values.ts'

const statuses = ['scheduled', 'queued', 'delayed'] as const

/** More than one statement may name. */
const maxEmails = 1000

/** The part of the queue that options name. @throws UsageError */
export function readQueueFilter({ options }: Pick<ParsedArguments, 'options'>): QueueFilter {
  const { org, domain, status } = options
  return {
    ...(org !== undefined && { organizationId: readOrganizationId(org) }),
    ...(domain !== undefined && { destination: readDomain(domain) }),
    ...(status !== undefined && { status: readOneOf(statuses, status, 'status') }),
  }
}

/** The part of the queue that something is to be done to: it has to be named. @throws UsageError */
export function requireSelection(called: ParsedArguments): QueueFilter {
  const filter = readQueueFilter(called)
  const { words } = called
  const isNarrowed = Object.keys(filter).length > 0
  const ways = [words.length > 0, isNarrowed, called.flags.has('all')].filter(Boolean).length
  if (ways === 0) throw new UsageError('say which ones: emails by id, --org, --domain or --status, or --all')
  if (ways > 1) throw new UsageError('give emails by id, or --org, --domain and --status, or --all')
  if (words.length > maxEmails) throw new UsageError(`${words.length} emails are too many; ${maxEmails} at once`)
  return words.length > 0 ? { emailIds: words.map(readEmailId) } : filter
}

/** @throws UsageError */
export function readEmailId(text: string): Id<'eml'> {
  if (!isId('eml', text)) throw new UsageError(`"${text}" is not the id of an email`)
  return text
}
