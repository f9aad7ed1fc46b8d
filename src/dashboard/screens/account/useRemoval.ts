import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Account, takeAccount } from '../../api/account.ts'

/** Something that the person is asked about before it is removed. */
export interface Removal<Thing> {
  /** null: nothing is asked. */
  readonly asked: Thing | null
  readonly ask: (thing: Thing) => void
  readonly close: () => void
  /** Removes what was asked about when the question was drawn. */
  readonly remove: () => Promise<void>
}

/** Asks before it removes a factor; the answer to the removal is the account. */
export function useRemoval<Thing>(removeThing: (thing: Thing) => Promise<Account>): Removal<Thing> {
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<Thing | null>(null)
  return {
    asked,
    ask: setAsked,
    close: () => setAsked(null),
    async remove() {
      if (asked !== null) await takeAccount(queryClient, await removeThing(asked))
    },
  }
}
