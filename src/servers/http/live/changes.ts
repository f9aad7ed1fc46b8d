import { type Instant, minuteMs, plusMs } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { Id } from '../../../base/ids.ts'
import type { EventType } from '../../../events/event-types.ts'
import type { SequenceAdvance, SequenceWatch } from '../../../events/sequence-watch.ts'
import { selectDomainDigests, selectRecentTypes, selectTaskDigest } from './table.ts'
import { type LiveScope, type Topic, topicsOf, topicsOfEvents } from './topics.ts'

/** Collects what changes, for as long as somebody listens. */
export interface ChangeCollector {
  /** The topics that changed in each of these scopes since the last call; of a scope that is new, or of all after a gap, lately. */
  collect(scopes: ReadonlySet<LiveScope>, now: Instant): Promise<ReadonlyMap<LiveScope, readonly Topic[]>>
  /** What changed in a scope lately, for a page that has loaded a moment ago. */
  recent(scope: LiveScope, now: Instant): Promise<readonly Topic[]>
  /** Nobody listens. */
  rest(): void
}

/** A page that opens its stream has loaded what it shows within this time. */
const recentMs = minuteMs

/** Hears of events from the sequence. What has none, the checks of domains and the tasks of operators, it looks up. */
export function collectChanges(db: Db, watch: SequenceWatch): ChangeCollector {
  let types = new Map<Id<'org'>, Set<EventType>>()
  let isAnything = false
  let digests: ReadonlyMap<LiveScope, string> = new Map()
  let unsubscribe: (() => void) | undefined

  function hear({ changed }: SequenceAdvance): void {
    if (changed === null) isAnything = true
    else for (const [id, found] of changed) types.set(id, (types.get(id) ?? new Set<EventType>()).union(found))
  }

  async function recent(scope: LiveScope, now: Instant): Promise<readonly Topic[]> {
    return scope === 'instance' ? [] : topicsOfEvents(await selectRecentTypes(db, scope, plusMs(now, -recentMs)))
  }

  /** What the sequence has brought since the last call. */
  function takeHeard() {
    const heard = { types, isAnything }
    types = new Map()
    isAnything = false
    return heard
  }

  return {
    async collect(scopes, now) {
      unsubscribe ??= watch.subscribe(hear)
      const before = digests
      digests = await readDigests(db, scopes)
      const heard = takeHeard()
      const changes = new Map<LiveScope, readonly Topic[]>()
      for (const scope of scopes) {
        const ofEvents = heard.isAnything ? await recent(scope, now) : topicsOfEvents(typesOf(heard.types, scope))
        const digest = before.get(scope)
        const isFound = digest !== undefined && digest !== digests.get(scope)
        const found: readonly Topic[] = isFound ? [scope === 'instance' ? 'tasks' : 'domains'] : []
        const topics = new Set([...ofEvents, ...found])
        changes.set(
          scope,
          topicsOf(scope).filter(topic => topics.has(topic)),
        )
      }
      return changes
    },
    recent,
    rest() {
      unsubscribe?.()
      unsubscribe = undefined
      digests = new Map()
    },
  }
}

function typesOf(types: ReadonlyMap<Id<'org'>, ReadonlySet<EventType>>, scope: LiveScope): Iterable<EventType> {
  return (scope === 'instance' ? undefined : types.get(scope)) ?? []
}

async function readDigests(db: Db, scopes: ReadonlySet<LiveScope>): Promise<ReadonlyMap<LiveScope, string>> {
  const digests = new Map<LiveScope, string>(
    await selectDomainDigests(
      db,
      [...scopes].filter(scope => scope !== 'instance'),
    ),
  )
  if (scopes.has('instance')) digests.set('instance', await selectTaskDigest(db))
  return digests
}
