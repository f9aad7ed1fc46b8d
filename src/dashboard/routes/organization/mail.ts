import { createRoute, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What is searched for in the mail: with the entry of the history, and never in the URL. */
    mailSearch?: string
  }
}

const folders: readonly string[] = ['inbox', 'archive', 'spam', 'trash', 'quarantine']

/** The list and the message beside it. `mailbox`: only messages to that one. */
const mailLayoutRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'mail',
  validateSearch: (search): { mailbox?: string } =>
    typeof search['mailbox'] === 'string' ? { mailbox: search['mailbox'] } : {},
  component: lazyRouteComponent(() => import('../../screens/mail/MailLayout.tsx'), 'MailLayout'),
})

const mailIndexRoute = createRoute({
  getParentRoute: () => mailLayoutRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({
      to: '/$organization/mail/$folder',
      params: { ...params, folder: 'inbox' },
      search: true,
      replace: true,
    })
  },
})

const folderRoute = createRoute({
  getParentRoute: () => mailLayoutRoute,
  path: '$folder',
  beforeLoad: ({ params }) => {
    if (!folders.includes(params.folder)) throw notFound()
  },
  component: lazyRouteComponent(() => import('../../screens/mail/message/ChooseMessage.tsx'), 'ChooseMessage'),
})

const messageRoute = createRoute({
  getParentRoute: () => mailLayoutRoute,
  path: 'm/$message',
  component: lazyRouteComponent(() => import('../../screens/mail/message/MessageScreen.tsx'), 'MessageScreen'),
})

export const mailRoute = mailLayoutRoute.addChildren([mailIndexRoute, folderRoute, messageRoute])
