import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { changeMessages, mailApi } from '../api/mail-api.ts'
import { type FolderName, mailStrings as strings } from '../strings.ts'
import { useMailList } from './mail-list-context.ts'

/** What can be done to all that match. */
type MatchingChange = { readonly folder: FolderName } | { readonly read: true }

/** So many can be put back by their ids. */
const mostUndone = 2_000

interface MatchingBarProps {
  readonly onEnd: () => void
  readonly onDone: () => void
}

/** Acts on all messages of the list's filter, those behind "more" included: it says how many there are first. */
export function MatchingBar({ onEnd, onDone }: MatchingBarProps) {
  const { api } = useOrganization()
  const { list } = useMailList()
  const { folder, mailboxId } = list.source
  const queryClient = useQueryClient()
  const [pendingChange, setPendingChange] = useState<MatchingChange | null>(null)
  const [done, setDone] = useState(0)
  const newest = list.rows?.[0]?.received_at ?? new Date().toISOString()
  const matching = { folder, ...(mailboxId !== undefined && { mailbox_id: mailboxId }), received_until: newest }
  const isRead = pendingChange && 'read' in pendingChange ? false : undefined
  const { data: all } = useQuery({
    queryKey: ['mail-matching', api.organizationId, api.brandId, matching],
    queryFn: () => mailApi(api).countMatching(matching),
  })
  const { data: meant } = useQuery({
    queryKey: ['mail-matching', api.organizationId, api.brandId, matching, isRead],
    queryFn: () => mailApi(api).countMatching(matching, isRead),
    enabled: pendingChange !== null,
  })
  const close = () => {
    setPendingChange(null)
    setDone(0)
  }

  const run = async () => {
    if (!pendingChange) return
    const changed: string[] = []
    for (let hasMore = true; hasMore; ) {
      const step = await mailApi(api).changeMatching(matching, pendingChange)
      changed.push(...step.updated)
      setDone(changed.length)
      hasMore = step.has_more
    }
    onDone()
    onEnd()
    list.reload()
    void queryClient.invalidateQueries({ queryKey: ['messages'] })
    const undo = () => {
      const back = 'read' in pendingChange ? { read: false } : { folder }
      changeMessages(api, changed, back).then(
        () => list.reload(),
        (error: unknown) => showToast(error instanceof Error ? error.message : String(error), { kind: 'failed' }),
      )
    }
    showToast(strings.matchingDone(changed.length), changed.length <= mostUndone ? { undo } : {})
  }

  const verb =
    pendingChange === null ? '' : 'read' in pendingChange ? strings.verbs.read : strings.verbs[pendingChange.folder]
  const count = meant ?? all
  return (
    <div className="mb-2 flex min-h-8 flex-wrap items-center gap-1 rounded-md bg-accent-soft px-2 py-1 text-sm">
      <span className="mr-1 font-medium" role="status">
        {all ? strings.matching(all.count, all.is_more, strings.folder[folder]) : '…'}
      </span>
      {folder !== 'archive' && folder !== 'quarantine' && (
        <Button size="small" onClick={() => setPendingChange({ folder: 'archive' })}>
          {strings.archive}
        </Button>
      )}
      {folder !== 'trash' && (
        <Button size="small" onClick={() => setPendingChange({ folder: 'trash' })}>
          {strings.trash}
        </Button>
      )}
      {folder === 'trash' && (
        <Button size="small" onClick={() => setPendingChange({ folder: 'inbox' })}>
          {strings.restore}
        </Button>
      )}
      <Button size="small" onClick={() => setPendingChange({ read: true })}>
        {strings.read}
      </Button>
      <Button kind="quiet" size="small" onClick={onEnd}>
        {strings.untickAll}
      </Button>
      <ConfirmDialog
        isOpen={pendingChange !== null && meant !== undefined}
        onClose={close}
        title={strings.matchingQuestion(verb, count?.count ?? 0, count?.is_more ?? false)}
        action={verb}
        isDanger={pendingChange !== null && 'folder' in pendingChange && pendingChange.folder === 'trash'}
        onConfirm={run}
      >
        <p>{strings.matchingNote}</p>
        {(count?.count ?? 0) > 1_000 && <p className="mt-2">{strings.matchingOpen}</p>}
        {(count?.count ?? 0) > mostUndone && <p className="mt-2">{strings.matchingNoUndo}</p>}
        <p className="mt-2 font-medium" role="status">
          {done > 0 && strings.matchingProgress(done)}
        </p>
      </ConfirmDialog>
    </div>
  )
}
