import type { LucideIcon } from 'lucide-react'
import { Globe, Mail } from 'lucide-react'
import type { OrganizationOfSession } from '../../api/session.ts'
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

/** The screens of an organization. A screen adds its line when its route is there. */
export const organizationNavigation: readonly NavigationGroup[] = [
  {
    label: null,
    items: [
      {
        to: '/$organization/mail',
        label: strings.mail,
        icon: Mail,
        key: 'i',
        isFor: organization => mayRead(organization, 'inbox:read'),
      },
    ],
  },
  {
    label: strings.setUp,
    items: [{ to: '/$organization/domains', label: strings.domains, icon: Globe, key: 'd' }],
  },
]

/** Members of some brands may do what their permissions say; owners and admins may all. */
function mayRead({ role, permissions }: OrganizationOfSession, permission: string): boolean {
  return role !== 'member' || permissions.includes(permission)
}

/** The screens of the instance. */
export const instanceNavigation: readonly NavigationGroup[] = []
