import { t } from 'elysia'
import { sessionActor } from '../../accounts/audit/session-actor.ts'
import { requireOrganization } from '../../accounts/organizations/organizations.ts'
import { oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import {
  cursorRefusals,
  cutPage,
  decodeCursor,
  encodeCursor,
  invalidCursor,
  limitParamSchema,
  pageSize,
} from '../../api/page.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, toIso } from '../../base/clock.ts'
import { cachedResult } from '../../base/concurrency/cached-result.ts'
import type { Db } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { canonicalDomain } from '../../mail/address.ts'
import { changeQueue } from './change-queue.ts'
import { countDestinations, countQueue, countQueuedOrganizations } from './count-table.ts'
import type { QueueAction, QueueSpan } from './operator-queue.ts'
import {
  queueActionResultSchema,
  queueActionSchema,
  queuePageSchema,
  queueSummarySchema,
  toJsonQueueCount,
  toJsonQueueRow,
} from './schema.ts'
import { maxSelectedEmails, queueStatuses, resolveSelection } from './selection.ts'
import { type QueueFilter, selectQueue } from './table.ts'

/** The counts take longer the longer the queue is, and many may look at them. */
const countsMaxAgeMs = 5000
const shownGroups = 20
/** A request changes or counts about so many recipients; the page goes on with the next request. */
const recipientsPerRequest = 5000

const actions = ['retry', 'hold', 'release', 'cancel'] as const

/** The queue of all organizations, for operators. */
export function queueSessionRoutes(deps: { readonly db: Db; readonly clock: Clock }) {
  const { db, clock } = deps
  const summary = cachedResult(countsMaxAgeMs, () => summarize(deps))
  return sessionApi('instance queue')
    .get('/app/api/instance/queue', () => summary(), {
      operator: 'session',
      response: queueSummarySchema,
      detail: describeRoute('getQueue', 'Count what waits to be sent, by organization and domain'),
    })
    .get(
      '/app/api/instance/queue/recipients',
      async ({ query: { cursor, limit, ...filter } }) => {
        const size = pageSize(limit)
        const after = readAfter(cursor)
        const rows = await selectQueue(db, await readFilter(db, filter), { after, limit: size + 1 })
        const { page, next_cursor } = cutPage(rows, size, ({ id }) => [id])
        const now = clock.now()
        return { data: page.map(row => toJsonQueueRow(row, now)), next_cursor }
      },
      {
        operator: 'session',
        query: t.Object(
          {
            organization_id: t.Optional(t.String()),
            domain: t.Optional(t.String()),
            status: t.Optional(oneOf(queueStatuses)),
            held: t.Optional(oneOf(['true', 'false'])),
            limit: limitParamSchema,
            cursor: t.Optional(t.String()),
          },
          { additionalProperties: false },
        ),
        response: queuePageSchema,
        detail: describeRoute('listQueuedRecipients', 'List the recipients that wait to be sent, the oldest first', [
          ...cursorRefusals,
          'not_found',
        ]),
      },
    )
    .post(
      '/app/api/instance/queue/:action',
      async ({ params, body, session, context }) => {
        const { dry_run: isDryRun = false, cursor, reason, email_ids, is_all, ...fields } = body
        const filter = await readSelection(db, { ...fields, email_ids, is_all })
        const change = await changeQueue(db, {
          filter,
          action: actionOf(params.action, reason),
          operator: sessionActor(session, context, clock),
          isDryRun,
          ...(cursor !== undefined && { from: readSpan(cursor) }),
          maxRecipients: recipientsPerRequest,
        })
        if (!isDryRun) summary.forget()
        return {
          dry_run: isDryRun,
          ...change.counts,
          not_queued: [...change.notQueued],
          next_cursor: change.next && encodeCursor(change.next.after, change.next.upTo),
        }
      },
      {
        operator: 'confirmed',
        params: t.Object({ action: oneOf(actions) }),
        body: queueActionSchema,
        response: queueActionResultSchema,
        detail: describeRoute(
          'changeQueue',
          'Retry, hold, release or cancel what waits to be sent',
          [...cursorRefusals, 'not_found'],
          'About 5,000 recipients at a time: call it again with next_cursor until that is null.',
        ),
      },
    )
}

async function summarize({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  const now = clock.now()
  return {
    queue: toJsonQueueCount(await countQueue(db, now)),
    organizations: (await countQueuedOrganizations(db, now, shownGroups)).map(({ organizationId, name, ...count }) => ({
      organization_id: organizationId,
      name,
      ...toJsonQueueCount(count),
    })),
    domains: (await countDestinations(db, now, shownGroups)).map(({ destination, ...count }) => ({
      domain: destination,
      ...toJsonQueueCount(count),
    })),
    counted_at: toIso(now),
  }
}

interface QueueFilterFields {
  readonly organization_id?: string | undefined
  readonly domain?: string | undefined
  readonly status?: QueueFilter['status'] | undefined
  readonly held?: 'true' | 'false' | undefined
}

/** @throws Refusal `not_found`, `invalid_request` */
async function readFilter(db: Db, { organization_id, domain, status, held }: QueueFilterFields): Promise<QueueFilter> {
  const destination = domain === undefined ? undefined : canonicalDomain(domain)
  if (domain !== undefined && destination === undefined)
    throw refuse('invalid_request', {
      message: `\`domain\` is ${JSON.stringify(domain)}, which is no domain name.`,
      param: 'domain',
    })
  return {
    ...(organization_id !== undefined && { organizationId: await requireOrganization(db, organization_id) }),
    ...(destination !== undefined && { destination }),
    ...(status !== undefined && { status }),
    ...(held !== undefined && { isHeld: held === 'true' }),
  }
}

interface SelectionFields extends Omit<QueueFilterFields, 'held'> {
  readonly email_ids?: readonly string[] | undefined
  readonly is_held?: boolean | undefined
  readonly is_all?: boolean | undefined
}

/** @throws Refusal `invalid_request`, `not_found` */
async function readSelection(db: Db, fields: SelectionFields): Promise<QueueFilter> {
  const { email_ids = [], is_all: isAll = false, is_held: isHeld, ...rest } = fields
  const emailIds = email_ids.map(id => {
    if (!isId('eml', id))
      throw refuse('invalid_request', {
        message: `\`email_ids\` has ${JSON.stringify(id.slice(0, 40))}, which is no id of an email.`,
        param: 'email_ids',
      })
    return id
  })
  const filter = { ...(await readFilter(db, rest)), ...(isHeld !== undefined && { isHeld }) }
  const selected = resolveSelection({ emailIds, filter, isAll })
  switch (selected) {
    case 'nothing_selected':
      throw refuse('invalid_request', { message: 'Say which recipients: email_ids, a filter, or is_all.' })
    case 'several_ways':
      throw refuse('invalid_request', { message: 'Give email_ids, or a filter, or is_all: only one of them.' })
    case 'too_many_emails':
      throw refuse('invalid_request', {
        message: `\`email_ids\` has at most ${maxSelectedEmails} ids.`,
        param: 'email_ids',
      })
    default:
      return selected
  }
}

function actionOf(kind: (typeof actions)[number], reason: string | undefined): QueueAction {
  return kind === 'hold' ? { kind, reason: reason?.trim() || null } : { kind }
}

/** @throws Refusal `invalid_cursor` */
function readAfter(cursor: string | undefined): string {
  if (cursor === undefined) return ''
  const [after = ''] = decodeCursor(cursor, 1)
  if (!isId('out', after)) throw invalidCursor(cursor)
  return after
}

/** @throws Refusal `invalid_cursor` */
function readSpan(cursor: string): QueueSpan {
  const [after = '', upTo = ''] = decodeCursor(cursor, 2)
  if (!isId('out', after) || !isId('out', upTo)) throw invalidCursor(cursor)
  return { after, upTo }
}
