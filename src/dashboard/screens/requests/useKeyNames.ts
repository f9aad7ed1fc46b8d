import { useQuery } from '@tanstack/react-query'
import { useOrganization } from '../../hooks/organization.ts'
import { loadKeys } from '../keys/keys.ts'

const mostPages = 5

/** The name of a key by its id, as far as the person may see it: of the newest few hundred. Otherwise the id. */
export function useKeyNames(): (id: string) => string {
  const { wholeApi } = useOrganization()
  const { data: names } = useQuery({
    queryKey: ['keys', wholeApi.organizationId, 'names'],
    staleTime: 60_000,
    queryFn: async () => {
      const found = new Map<string, string>()
      let cursor: string | undefined
      for (let page = 0; page < mostPages; page++) {
        const { data, next_cursor } = await loadKeys(wholeApi, { state: 'all' }, cursor)
        for (const { id, name } of data) found.set(id, name)
        if (next_cursor === null) break
        cursor = next_cursor
      }
      return found
    },
  })
  return id => names?.get(id) ?? id
}
