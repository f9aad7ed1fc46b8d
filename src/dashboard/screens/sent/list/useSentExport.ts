import { useState } from 'react'
import { downloadFile } from '../../../api/download.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { filterParams, type SentFilter } from '../sent-filter.ts'

/** Downloads what a filter matches. */
export function useSentExport(filter: SentFilter) {
  const { api } = useOrganization()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const start = async () => {
    setBusy(true)
    setError(null)
    try {
      await downloadFile('/app/api/sent.csv', { ...api, query: filterParams(filter) })
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, error, start: () => void start() }
}
