import { useState } from 'react'
import { send } from '../../../api/send.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { filterParams, type SentFilter } from '../sent-filter.ts'

/**
 * Downloads what a filter matches. The first request only asks whether it is allowed, so that the person can confirm who
 * they are; then the browser downloads by itself, of any size, and goes on when the page is left.
 */
export function useSentExport(filter: SentFilter) {
  const { api } = useOrganization()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const start = async () => {
    setBusy(true)
    setError(null)
    try {
      const url = exportUrl(api.organizationId, api.brandId, filter)
      const allowed = await send(new Request(url))
      await allowed.body?.cancel()
      const link = document.createElement('a')
      link.href = url
      link.download = ''
      link.click()
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, error, start: () => void start() }
}

function exportUrl(organization: string, brand: string | null, filter: SentFilter): string {
  const url = new URL('/app/api/sent.csv', location.origin)
  const params = { organization, ...(brand !== null && { brand }), ...filterParams(filter) }
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  return url.href
}
