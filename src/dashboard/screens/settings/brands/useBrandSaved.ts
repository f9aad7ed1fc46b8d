import { useQueryClient } from '@tanstack/react-query'
import { sessionQuery } from '../../../api/session.ts'
import { showToast } from '../../../components/overlays/toasts.ts'
import { settingStrings as strings } from '../strings.ts'

/** What follows when a brand was created or changed: it is read anew wherever brands are listed. */
export function useBrandSaved(): () => Promise<void> {
  const queryClient = useQueryClient()
  return async () => {
    await queryClient.invalidateQueries({ queryKey: ['brands'] })
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
    showToast(strings.saved)
  }
}
