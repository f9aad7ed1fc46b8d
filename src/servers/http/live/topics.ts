import { type Instant, millisecondsOf, minuteMs, plusMs } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { padToPowerOfTwo } from '../../../base/database/select-rows.ts'
import { type Id, newSortableToken } from '../../../base/ids.ts'
import {
  idPartLength,
  selectDomainDigests,
  selectEmailDigests,
  selectMessageDigests,
  selectTaskDigest,
} from './table.ts'

/** Whose changes a stream hears of: an organization's, or those that operators see. */
export type LiveScope = Id<'org'> | 'instance'

/** What a stream is told of: the first element of the query keys that the page loads again. */
export type Topic = 'messages' | 'emails' | 'domains' | 'tasks'

/** All topics of a scope. */
export function topicsOf(scope: LiveScope): readonly Topic[] {
  return scope === 'instance' ? ['tasks'] : ['messages', 'emails', 'domains']
}

/** What was found of the recent past: a digest of each part of a topic, by `<scope> <topic> <part>`. */
export type Digests = ReadonlyMap<string, Digest>

interface Digest {
  readonly scope: LiveScope
  readonly topic: Topic
  readonly digest: string
}

/** Organizations in one statement. */
const maxAtOnce = 32
const noOrganization: Id<'org'> = 'org_none'

/** A message is filed at most two minutes after it was received. */
const messageWindowMs = 3 * minuteMs
/** An event of an email is committed within a few seconds. */
const emailWindowMs = minuteMs

/** Asks the database what is new in these scopes: for each topic with questions of bounded work. */
export async function readDigests(db: Db, scopes: readonly LiveScope[], now: Instant): Promise<Digests> {
  const organizationIds = scopes.filter(scope => scope !== 'instance')
  const digests = new Map<string, Digest>()
  const add = (scope: LiveScope, topic: Topic, part: string, digest: string) =>
    digests.set(`${scope} ${topic} ${part}`, { scope, topic, digest })
  for (let at = 0; at < organizationIds.length; at += maxAtOnce) {
    // An id that is no organization's fills up the last ones, so that there are few different statements.
    const ids = padToPowerOfTwo([...organizationIds.slice(at, at + maxAtOnce), noOrganization]).slice(0, maxAtOnce)
    for (const row of await selectMessageDigests(db, ids, beginOfMinute(plusMs(now, -messageWindowMs))))
      add(row.organization_id, 'messages', row.part, row.digest)
    for (const row of await selectEmailDigests(db, ids, firstEventId(millisecondsOf(now) - emailWindowMs)))
      add(row.organization_id, 'emails', row.part, row.digest)
    for (const row of await selectDomainDigests(db, ids)) add(row.organization_id, 'domains', row.part, row.digest)
  }
  if (scopes.includes('instance')) add('instance', 'tasks', 'newest', await selectTaskDigest(db))
  return digests
}

/** The topics of which `now` has a part that is new or differs, by scope. A part that is gone has only grown too old. */
export function changesBetween(before: Digests, now: Digests): ReadonlyMap<LiveScope, ReadonlySet<Topic>> {
  const changes = new Map<LiveScope, Set<Topic>>()
  for (const [part, { scope, topic, digest }] of now) {
    if (before.get(part)?.digest === digest) continue
    const topics = changes.get(scope) ?? new Set()
    changes.set(scope, topics.add(topic))
  }
  return changes
}

function beginOfMinute(at: Instant): Instant {
  return `${at.slice(0, 17)}00.000000` as Instant
}

function firstEventId(ms: number): string {
  return `evt_${newSortableToken(ms)}`.slice(0, idPartLength)
}
