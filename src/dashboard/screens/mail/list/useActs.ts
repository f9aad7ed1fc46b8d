import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { OrganizationApi } from '../../../api/client.ts'
import { showToast } from '../../../components/overlays/toasts.ts'
import { changeMessages } from '../api/mail-api.ts'
import type { FolderName } from '../strings.ts'
import { mailStrings as strings } from '../strings.ts'
import { type Act, changeOf, doneText, inverseOf } from './acts.ts'
import type { RowChange } from './snapshot.ts'

/** A message as it was drawn where the act began. */
export interface ActTarget {
  readonly id: string
  readonly folder: FolderName
  readonly read: boolean
  readonly starred: boolean
}

/** Does an act to messages: at once on the screen, then on the server, with Undo. */
export type Perform = (act: Act, targets: readonly ActTarget[]) => void

/** @param apply draws a change in the list, and gives how to take it back */
export function useActs(
  api: OrganizationApi,
  apply: (ids: readonly string[], change: RowChange) => () => void,
): Perform {
  const queryClient = useQueryClient()
  return useCallback(
    (act, targets) => {
      if (targets.length === 0) return
      const ids = targets.map(({ id }) => id)
      const send = async (toIds: readonly string[], wanted: Act) => {
        const gone = await changeMessages(api, toIds, changeOf(wanted))
        for (const id of toIds) void queryClient.invalidateQueries({ queryKey: ['message', id], refetchType: 'none' })
        void queryClient.invalidateQueries({ queryKey: ['messages'] })
        return gone
      }
      const fail = (error: unknown) =>
        showToast(error instanceof Error ? error.message : String(error), { kind: 'failed' })
      const takeBack = apply(ids, changeOf(act))
      const undo = () => {
        takeBack()
        Promise.all(inverseOf(act, targets).map(({ ids: toIds, act: wanted }) => send(toIds, wanted))).catch(
          (error: unknown) => {
            apply(ids, changeOf(act))
            fail(error)
          },
        )
      }
      send(ids, act).then(
        gone => {
          if (gone.length > 0) showToast(strings.someGone(gone.length), { kind: 'failed' })
          const count = ids.length - gone.length
          // A star shows by itself what was done.
          if (count > 0 && !(act.kind === 'star' && count === 1)) showToast(doneText(act, count), { undo })
        },
        (error: unknown) => {
          takeBack()
          fail(error)
        },
      )
    },
    [api, apply, queryClient],
  )
}
