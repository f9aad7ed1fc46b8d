import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Account, takeAccount } from '../../api/account.ts'
import { showToast } from '../../components/overlays/toasts.ts'

/** A change of the account under way. */
export interface AccountChange {
  readonly isBusy: boolean
  /** What was thrown; null: nothing. */
  readonly error: unknown
  /** Makes the change, and says so when it is done. Resolves to whether it was. */
  readonly run: (change: () => Promise<Account>, done: string) => Promise<boolean>
}

/** Makes changes that answer with the account, one at a time. */
export function useAccountChange(): AccountChange {
  const queryClient = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  return {
    isBusy,
    error,
    async run(change, done) {
      setBusy(true)
      setError(null)
      try {
        await takeAccount(queryClient, await change())
        showToast(done)
        return true
      } catch (thrown) {
        setError(thrown)
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
