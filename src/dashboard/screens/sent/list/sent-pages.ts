import { answer } from '../../../api/client.ts'
import { queryKey } from '../../../api/keys.ts'
import type { components } from '../../../api/v1.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { type Pages, useNewRows, usePages } from '../../../hooks/pages.ts'
import { filterParams, type SentFilter } from '../sent-filter.ts'

/** An email in the list. */
export type SentEmail = components['schemas']['EmailItem']

function useLoad(filter: SentFilter) {
  const { api } = useOrganization()
  return {
    api,
    load: (page: { before?: string; limit?: number }) =>
      answer(api.v1.GET('/v1/emails', { params: { query: { ...filterParams(filter), ...page } } })),
  }
}

/** The emails that a filter matches as they were when the list was opened: it changes only when one asks for it. */
export function useSentPages(filter: SentFilter): Pages<SentEmail> {
  const { api, load } = useLoad(filter)
  return usePages(
    queryKey('sent-snapshot', api, filter),
    async before => {
      const { data, next_before } = await load(before === undefined ? {} : { before })
      return { data, next_cursor: next_before }
    },
    { isSnapshot: true },
  )
}

/** How many emails that the filter matches came after `newest`, the first of the list. */
export function useNewSent(filter: SentFilter, newest: SentEmail | undefined) {
  const { api, load } = useLoad(filter)
  const since = newest?.created_at ?? ''
  return useNewRows(
    queryKey('emails', api, 'newest', filter),
    limit => load({ limit }),
    email => email.created_at > since,
  )
}
