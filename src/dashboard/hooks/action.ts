import { useState } from 'react'

/** Something that a person starts by a button or a form, while it goes on and after it was refused. */
export interface Action {
  readonly isBusy: boolean
  /** What it failed with; null again as soon as it is started again. */
  readonly error: unknown
  /** Runs `work`. What it throws becomes {@link error}. */
  run(work: () => Promise<void>): Promise<void>
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  return {
    isBusy,
    error,
    async run(work) {
      setBusy(true)
      setError(null)
      try {
        await work()
      } catch (thrown) {
        setError(thrown)
      } finally {
        setBusy(false)
      }
    },
  }
}
