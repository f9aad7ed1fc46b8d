import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type EmailStatus, isEmailStatus } from '../../screens/sent/email-status.ts'
import { organizationRoute } from './layout.ts'

/** The filters that one may share; that by recipient is not in the URL, which holds no address. */
export interface SentSearch {
  readonly status?: EmailStatus
  /** `name:value`. */
  readonly tag?: string
}

export const sentRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'sent',
  validateSearch: ({ status, tag }): SentSearch => ({
    ...(isEmailStatus(status) && { status }),
    ...(typeof tag === 'string' && tag !== '' && { tag }),
  }),
  component: lazyRouteComponent(() => import('../../screens/sent/SentScreen.tsx'), 'SentScreen'),
})

export const sentEmailRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'sent/$email',
  component: lazyRouteComponent(() => import('../../screens/sent/email/EmailScreen.tsx'), 'EmailScreen'),
})
