import { Outlet, useParams, useRouterState, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { classes } from '../../components/classes.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { FolderBar } from './list/FolderBar.tsx'
import { MessagesPane } from './list/MessagesPane.tsx'
import { MailListContext } from './list/mail-list-context.ts'
import type { MessageSource } from './list/message-source.ts'
import { useActs } from './list/useActs.ts'
import { useMessageList } from './list/useMessageList.ts'
import { type FolderName, folderNames } from './strings.ts'

/** `/app/<organization>/mail/…`: the list, and beside it (on narrow screens in its place) the message that is open. */
export function MailLayout() {
  const { api, may } = useOrganization()
  const { mailbox } = useSearch({ from: '/$organization/mail' })
  const { folder: named, message: openId } = useParams({ strict: false })
  const [folder, setFolder] = useState<FolderName>(isFolder(named) ? named : 'inbox')
  const search = useRouterState({ select: state => state.location.state.mailSearch ?? '' })
  useEffect(() => {
    if (isFolder(named)) setFolder(named)
  }, [named])

  const shownFolder = isFolder(named) ? named : folder
  const source: MessageSource = useMemo(
    () => ({ folder: shownFolder, mailboxId: mailbox, search }),
    [shownFolder, mailbox, search],
  )
  const list = useMessageList(api, source)
  const perform = useActs(api, list.apply)
  const context = useMemo(
    () => ({ list, perform, mayWrite: may('inbox:write'), maySend: may('email:send') }),
    [list, perform, may],
  )
  const isOpen = openId !== undefined
  return (
    <MailListContext value={context}>
      <div className={classes(isOpen && 'hidden xl:block')}>
        <FolderBar folder={shownFolder} mailboxId={mailbox} />
      </div>
      <div className="grid min-w-0 grid-cols-1 items-start gap-x-5 xl:grid-cols-[minmax(22rem,26rem)_minmax(0,1fr)]">
        <div className={classes('min-w-0', isOpen && 'hidden xl:block')}>
          <MessagesPane openId={openId} />
        </div>
        <div
          className={classes(
            'min-w-0 xl:sticky xl:top-14 xl:max-h-[calc(100dvh-4rem)] xl:overflow-y-auto xl:pb-1',
            !isOpen && 'hidden xl:block',
          )}
        >
          <Outlet />
        </div>
      </div>
    </MailListContext>
  )
}

function isFolder(text: string | undefined): text is FolderName {
  return folderNames.some(name => name === text)
}
