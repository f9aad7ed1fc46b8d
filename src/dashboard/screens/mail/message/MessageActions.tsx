import {
  Archive,
  Ellipsis,
  FileText,
  Forward,
  Inbox,
  ListTree,
  MailCheck,
  OctagonAlert,
  Reply,
  ReplyAll,
  Star,
  Trash2,
} from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../../components/overlays/Menu.tsx'
import type { InboundMessage } from '../api/mail-api.ts'
import type { Act } from '../list/acts.ts'
import { useMailList } from '../list/mail-list-context.ts'
import { mailStrings as strings } from '../strings.ts'
import { HeadersDialog } from './HeadersDialog.tsx'
import { RawDialog } from './RawDialog.tsx'
import type { ReplyKind } from './reply-kind.ts'

interface MessageActionsProps {
  readonly message: InboundMessage
  readonly onAct: (act: Act) => void
  readonly onReply: (kind: ReplyKind) => void
}

/** What can be done with the open message. */
export function MessageActions({ message, onAct, onReply }: MessageActionsProps) {
  const { mayWrite, maySend } = useMailList()
  const [shown, setShown] = useState<'headers' | 'raw' | null>(null)
  const { folder, starred } = message
  return (
    <div className="flex min-w-0 flex-1 flex-wrap items-center gap-0.5">
      {mayWrite && (
        <>
          {folder !== 'archive' && folder !== 'quarantine' && (
            <IconButton
              label={strings.archive}
              icon={<Archive />}
              onClick={() => onAct({ kind: 'move', folder: 'archive' })}
            />
          )}
          {folder !== 'trash' && (
            <IconButton
              label={strings.trash}
              icon={<Trash2 />}
              onClick={() => onAct({ kind: 'move', folder: 'trash' })}
            />
          )}
          {folder !== 'inbox' && folder !== 'quarantine' && (
            <IconButton
              label={strings.restore}
              icon={<Inbox />}
              onClick={() => onAct({ kind: 'move', folder: 'inbox' })}
            />
          )}
          <IconButton
            label={starred ? strings.unstar : strings.star}
            isPressed={starred}
            icon={<Star className={starred ? 'fill-current text-warn' : ''} />}
            onClick={() => onAct({ kind: 'star', starred: !starred })}
          />
          <IconButton
            label={strings.markUnread}
            icon={<MailCheck />}
            onClick={() => onAct({ kind: 'read', read: false })}
          />
        </>
      )}
      <span className="flex-1" />
      {maySend && (
        // Narrow screens have them below the message.
        <span className="hidden sm:contents">
          <IconButton label={strings.reply} icon={<Reply />} onClick={() => onReply('reply')} />
          <IconButton label={strings.replyAll} icon={<ReplyAll />} onClick={() => onReply('reply-all')} />
          <IconButton label={strings.forward} icon={<Forward />} onClick={() => onReply('forward')} />
        </span>
      )}
      <Menu button={<IconButton label={strings.more} icon={<Ellipsis />} />}>
        {mayWrite && folder !== 'spam' && folder !== 'quarantine' && (
          <>
            <MenuItem icon={<OctagonAlert />} onSelect={() => onAct({ kind: 'move', folder: 'spam' })}>
              {strings.spam}
            </MenuItem>
            <MenuSeparator />
          </>
        )}
        <MenuItem icon={<ListTree />} onSelect={() => setShown('headers')}>
          {strings.showHeaders}
        </MenuItem>
        <MenuItem icon={<FileText />} onSelect={() => setShown('raw')}>
          {strings.showRaw}
        </MenuItem>
      </Menu>
      <HeadersDialog message={message} isOpen={shown === 'headers'} onClose={() => setShown(null)} />
      <RawDialog message={message} isOpen={shown === 'raw'} onClose={() => setShown(null)} />
    </div>
  )
}
