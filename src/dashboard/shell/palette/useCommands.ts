import { useNavigate, useParams } from '@tanstack/react-router'
import {
  Building2,
  Globe,
  Keyboard,
  LogOut,
  type LucideIcon,
  Monitor,
  Moon,
  PenLine,
  ServerCog,
  Sun,
  UserCog,
} from 'lucide-react'
import { type Permission, useSession } from '../../api/session.ts'
import { useTheme } from '../../hooks/theme.ts'
import type { NavigationGroup } from '../navigation/navigation.ts'
import { keepBrand } from '../navigation/useGoShortcuts.ts'
import { strings } from '../strings.ts'
import { signOut } from '../top-bar/sign-out.ts'

/** Something that the command palette offers. */
export interface Command {
  readonly id: string
  /** The heading that it stands under. */
  readonly group: string
  readonly label: string
  readonly icon: LucideIcon
  /** The keys that do the same. */
  readonly keys?: string
  readonly run: () => void
}

/** The screens of the house, what is done most, the other houses, the account: what this person may use. */
export function useCommands(navigation: readonly NavigationGroup[], onHelp: () => void): readonly Command[] {
  return [...useScreens(navigation), ...useActions(), ...useHouses(), ...useAccountCommands(onHelp)]
}

function useScreens(navigation: readonly NavigationGroup[]): readonly Command[] {
  const navigate = useNavigate()
  const { organization } = useParams({ strict: false })
  return navigation
    .flatMap(({ items }) => items)
    .map(({ to, label, icon, key }) => ({
      id: to,
      group: strings.screens,
      label,
      icon,
      keys: `g ${key}`,
      run: () => void navigate({ to, params: { organization }, search: keepBrand } as never),
    }))
}

function useActions(): readonly Command[] {
  const navigate = useNavigate()
  const { organizations } = useSession()
  const { organization: id } = useParams({ strict: false })
  const organization = organizations.find(candidate => candidate.id === id)
  if (!organization) return []
  const may = (permission: Permission) =>
    organization.role !== 'member' || organization.permissions.includes(permission)
  const params = { organization: organization.id }
  const group = strings.actions
  return [
    ...(may('email:send')
      ? [
          {
            id: 'compose',
            group,
            label: strings.writeEmail,
            icon: PenLine,
            run: () => void navigate({ to: '/$organization/mail/compose', params, search: keepBrand }),
          },
        ]
      : []),
    ...(may('domains:write')
      ? [
          {
            id: 'domain',
            group,
            label: strings.addDomain,
            icon: Globe,
            run: () => void navigate({ to: '/$organization/domains/new', params, search: keepBrand }),
          },
        ]
      : []),
  ]
}

function useHouses(): readonly Command[] {
  const navigate = useNavigate()
  const { organizations, is_operator: isOperator } = useSession()
  const { organization: current } = useParams({ strict: false })
  const group = strings.organizations
  return [
    ...organizations
      .filter(({ id }) => id !== current)
      .map(({ id, name }) => ({
        id,
        group,
        label: name,
        icon: Building2,
        run: () => void navigate({ to: '/$organization', params: { organization: id } }),
      })),
    ...(isOperator && current !== undefined
      ? [
          {
            id: 'instance',
            group,
            label: strings.instance,
            icon: ServerCog,
            run: () => void navigate({ to: '/instance' }),
          },
        ]
      : []),
  ]
}

const themes = [
  ['system', Monitor],
  ['light', Sun],
  ['dark', Moon],
] as const

function useAccountCommands(onHelp: () => void): readonly Command[] {
  const navigate = useNavigate()
  const [theme, chooseTheme] = useTheme()
  const group = strings.account
  return [
    {
      id: 'account',
      group,
      label: strings.accountSettings,
      icon: UserCog,
      run: () => void navigate({ to: '/account' }),
    },
    ...themes
      .filter(([value]) => value !== theme)
      .map(([value, icon]) => ({
        id: `theme ${value}`,
        group,
        label: `${strings.theme}: ${strings.themes[value]}`,
        icon,
        run: () => chooseTheme(value),
      })),
    { id: 'keys', group, label: strings.shortcuts, icon: Keyboard, keys: '?', run: onHelp },
    { id: 'sign-out', group, label: strings.signOut, icon: LogOut, run: () => void signOut() },
  ]
}
