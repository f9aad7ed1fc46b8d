import { Archive, ChevronDown, Inbox, MailCheck, MailOpen, OctagonAlert, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Menu, MenuItem } from '../../../components/overlays/Menu.tsx'
import type { InboxItem } from '../api/mail-api.ts'
import { type FolderName, mailStrings as strings } from '../strings.ts'
import type { Act } from './acts.ts'
import { MatchingBar } from './MatchingBar.tsx'
import { useMailList } from './mail-list-context.ts'

interface BulkBarProps {
  readonly targets: readonly InboxItem[]
  readonly rows: readonly InboxItem[]
  readonly onTick: (ids: ReadonlySet<string>) => void
  readonly onAct: (act: Act) => void
}

/** Ticks all rows, and acts on those that are ticked; when all are and there are more, on all that match. */
export function BulkBar({ targets, rows, onTick, onAct }: BulkBarProps) {
  const { list } = useMailList()
  const { source, hasMore } = list
  const [isMatching, setMatching] = useState(false)
  const box = useRef<HTMLInputElement>(null)
  const isAll = targets.length === rows.length
  useEffect(() => {
    if (box.current) box.current.indeterminate = targets.length > 0 && !isAll
  }, [targets.length, isAll])
  const hasTicked = targets.length > 0
  if (isMatching && isAll) return <MatchingBar onEnd={() => setMatching(false)} onDone={() => onTick(new Set())} />
  return (
    <div className="mb-2 flex min-h-8 flex-wrap items-center gap-x-1 gap-y-1 pl-1.5">
      <label className="flex h-8 min-w-7 items-center justify-center gap-2 text-sm text-muted pointer-coarse:min-w-10">
        <input
          ref={box}
          type="checkbox"
          checked={isAll && hasTicked}
          onChange={() => onTick(hasTicked ? new Set() : new Set(rows.map(row => row.id)))}
          className="size-4 accent-accent"
        />
        <span className="sr-only">{hasTicked ? strings.untickAll : strings.tickAll}</span>
        {!hasTicked && (
          <span aria-hidden="true" className="text-xs text-faint">
            {strings.selectAll}
          </span>
        )}
      </label>
      {hasTicked && (
        <>
          <span className="px-1 text-sm font-medium" role="status">
            {strings.ticked(targets.length)}
          </span>
          <ActButtons folder={source.folder} targets={targets} onAct={onAct} />
          {isAll && hasMore && (
            <Button kind="quiet" size="small" onClick={() => setMatching(true)}>
              {strings.tickMatching}
            </Button>
          )}
        </>
      )}
    </div>
  )
}

function ActButtons({
  folder,
  targets,
  onAct,
}: Pick<BulkBarProps, 'targets' | 'onAct'> & { readonly folder: FolderName }) {
  const hasUnread = targets.some(row => !row.read)
  return (
    <>
      {folder !== 'archive' && folder !== 'quarantine' && (
        <IconButton
          label={strings.archive}
          icon={<Archive />}
          onClick={() => onAct({ kind: 'move', folder: 'archive' })}
        />
      )}
      {folder !== 'trash' && (
        <IconButton label={strings.trash} icon={<Trash2 />} onClick={() => onAct({ kind: 'move', folder: 'trash' })} />
      )}
      <IconButton
        label={hasUnread ? strings.read : strings.markUnread}
        icon={hasUnread ? <MailOpen /> : <MailCheck />}
        onClick={() => onAct({ kind: 'read', read: hasUnread })}
      />
      <MoveMenu folder={folder} onMove={to => onAct({ kind: 'move', folder: to })} />
    </>
  )
}

/** Where messages can be moved from here. What is in quarantine is released by an operator. */
function MoveMenu({ folder, onMove }: { readonly folder: FolderName; readonly onMove: (to: FolderName) => void }) {
  if (folder === 'quarantine') return null
  return (
    <Menu
      button={
        <Button kind="quiet" size="small">
          {strings.moveTo}
          <ChevronDown />
        </Button>
      }
    >
      {folder !== 'inbox' && (
        <MenuItem icon={<Inbox />} onSelect={() => onMove('inbox')}>
          {strings.folder.inbox}
        </MenuItem>
      )}
      {folder !== 'archive' && (
        <MenuItem icon={<Archive />} onSelect={() => onMove('archive')}>
          {strings.folder.archive}
        </MenuItem>
      )}
      {folder !== 'spam' && (
        <MenuItem icon={<OctagonAlert />} onSelect={() => onMove('spam')}>
          {strings.folder.spam}
        </MenuItem>
      )}
      {folder !== 'trash' && (
        <MenuItem icon={<Trash2 />} onSelect={() => onMove('trash')}>
          {strings.folder.trash}
        </MenuItem>
      )}
    </Menu>
  )
}
