import { useEffect, useState } from 'react'
import { answer, linkTo, type OrganizationApi } from '../../api/client.ts'
import { queryKey } from '../../api/keys.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { useNewRows, usePages } from '../../hooks/pages.ts'
import type { FeedEvent } from './event.ts'

const reopenMs = 5_000
/** So many are shown of what comes in live; the list has the others when it is loaded again. */
const mostLive = 500

function load({ app }: OrganizationApi, types: readonly string[], more: { cursor?: string; limit?: number } = {}) {
  const query = { ...(types.length > 0 && { types: types.join(',') }), ...more }
  return answer(app.GET('/app/api/events', { params: { query } }))
}

/** The events of these types as they were when the list was opened, newest first. No types: all. */
export function useEventPages(types: readonly string[]) {
  const { api } = useOrganization()
  return usePages(
    queryKey('events-snapshot', api, types),
    cursor => load(api, types, cursor === undefined ? {} : { cursor }),
    { isSnapshot: true },
  )
}

/** How many events of these types came after `newest`. */
export function useNewEvents(types: readonly string[], newest: FeedEvent | undefined, isAsked: boolean) {
  const { api } = useOrganization()
  const since = newest?.sequence ?? 0
  return useNewRows(
    queryKey('events', api, 'newest', types),
    limit => load(api, types, { limit }),
    ({ sequence }) => sequence > since,
    isAsked,
  )
}

/** Listens to the feed from a cursor on, while `after` is not null: what came since, newest first. */
export function useLiveEvents(types: readonly string[], after: string | null, onRefused: () => void) {
  const { api } = useOrganization()
  const [events, setEvents] = useState<readonly FeedEvent[]>([])
  const typeList = types.join(',')
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onRefused` is new at every rendering
  useEffect(() => {
    setEvents([])
    if (after === null) return
    const query = { after, ...(typeList && { types: typeList }) }
    const source = new EventSource(linkTo(api, '/app/api/v1/events', query))
    source.onmessage = ({ data, lastEventId }) => {
      const event: FeedEvent = { ...JSON.parse(String(data)), cursor: lastEventId }
      setEvents(known => [event, ...known].slice(0, mostLive))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    // The browser connects again by itself, but not after a refusal: a cursor too old, a session that ended.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(onRefused, reopenMs)
    }
    return () => {
      source.close()
      clearTimeout(timer)
    }
  }, [api, typeList, after])
  return events
}
