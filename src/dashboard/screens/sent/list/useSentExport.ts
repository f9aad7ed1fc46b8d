import { downloadFile } from '../../../api/download.ts'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { filterParams, type SentFilter } from '../sent-filter.ts'

/** Downloads what a filter matches. */
export function useSentExport(filter: SentFilter) {
  const { api } = useOrganization()
  const { isBusy, error, run } = useAction()
  const start = () =>
    run(async () => {
      await downloadFile('/app/api/sent.csv', { ...api, query: filterParams(filter) })
    })
  return { isBusy, error, start: () => void start() }
}
