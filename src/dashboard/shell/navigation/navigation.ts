import type { LucideIcon } from 'lucide-react'
import {
  Activity,
  Ban,
  Globe,
  Inbox,
  KeyRound,
  LayoutTemplate,
  Mail,
  ScrollText,
  Send,
  Settings,
  Sun,
  Users,
  Webhook,
} from 'lucide-react'
import type { OrganizationOfSession, Permission } from '../../api/session.ts'
import { navigationStrings as strings } from './navigation-strings.ts'

/** A screen in the navigation. */
export interface NavigationItem {
  readonly to: string
  readonly label: string
  readonly icon: LucideIcon
  /** The letter after `g`. */
  readonly key: string
  /** Is it shown to this member? Without it: to everyone. */
  readonly isFor?: (organization: OrganizationOfSession) => boolean
}

/** Screens that belong together. */
export interface NavigationGroup {
  /** null: the first group has no heading. */
  readonly label: string | null
  readonly items: readonly NavigationItem[]
}

/** Has the member this permission? Owners and admins have all. */
function has(permission: Permission) {
  return ({ role, permissions }: OrganizationOfSession) => role !== 'member' || permissions.includes(permission)
}

/** Has the member one of these? */
function hasAny(...permissions: readonly Permission[]) {
  return (organization: OrganizationOfSession) => permissions.some(permission => has(permission)(organization))
}

/** The screens of an organization. A screen adds its line when its route is there. */
export const organizationNavigation: readonly NavigationGroup[] = [
  {
    label: null,
    items: [
      { to: '/$organization', label: strings.today, icon: Sun, key: 't' },
      {
        to: '/$organization/mail',
        label: strings.mail,
        icon: Mail,
        key: 'i',
        isFor: has('inbox:read'),
      },
      { to: '/$organization/sent', label: strings.sent, icon: Send, key: 's', isFor: has('email:read') },
    ],
  },
  {
    label: strings.setUp,
    items: [
      {
        to: '/$organization/domains',
        label: strings.domains,
        icon: Globe,
        key: 'd',
        isFor: has('domains:read'),
      },
      {
        to: '/$organization/mailboxes',
        label: strings.mailboxes,
        icon: Inbox,
        key: 'm',
        isFor: has('inbox:read'),
      },
      {
        to: '/$organization/templates',
        label: strings.templates,
        icon: LayoutTemplate,
        key: 'p',
        isFor: has('templates:read'),
      },
      {
        to: '/$organization/suppressions',
        label: strings.suppressions,
        icon: Ban,
        key: 'b',
        isFor: has('suppressions:read'),
      },
    ],
  },
  {
    label: strings.programs,
    items: [
      { to: '/$organization/keys', label: strings.keys, icon: KeyRound, key: 'k' },
      {
        to: '/$organization/webhooks',
        label: strings.webhooks,
        icon: Webhook,
        key: 'w',
        isFor: has('webhooks:read'),
      },
      {
        to: '/$organization/events',
        label: strings.events,
        icon: Activity,
        key: 'e',
        isFor: hasAny('inbox:read', 'email:read', 'suppressions:read', 'domains:read', 'brands:read'),
      },
      {
        to: '/$organization/requests',
        label: strings.requests,
        icon: ScrollText,
        key: 'r',
        isFor: has('email:read'),
      },
    ],
  },
  {
    label: strings.organization,
    items: [
      {
        to: '/$organization/people',
        label: strings.people,
        icon: Users,
        key: 'u',
        isFor: ({ role }) => role !== 'member',
      },
      { to: '/$organization/settings', label: strings.settings, icon: Settings, key: 'o' },
    ],
  },
]
