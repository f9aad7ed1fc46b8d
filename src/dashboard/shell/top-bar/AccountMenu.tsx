import { Link } from '@tanstack/react-router'
import { Keyboard, LogOut, Monitor, Moon, Sun, UserCog } from 'lucide-react'
import { useSession } from '../../api/session.ts'
import { Menu, MenuItem, MenuLabel, MenuLink, MenuSeparator } from '../../components/overlays/Menu.tsx'
import { Avatar } from '../../components/text/Avatar.tsx'
import { type Theme, useTheme } from '../../hooks/theme.ts'
import { strings } from '../strings.ts'
import { signOut } from './sign-out.ts'

const themes: readonly (readonly [Theme, typeof Sun])[] = [
  ['system', Monitor],
  ['light', Sun],
  ['dark', Moon],
]

/** The person: their account, theme, keys, signing out. */
export function AccountMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { user } = useSession()
  const [theme, chooseTheme] = useTheme()
  const name = user.name || user.email
  return (
    <Menu
      button={
        <button
          type="button"
          aria-label={strings.accountOf(name)}
          className="ml-1 flex size-8 items-center justify-center rounded-full hover:bg-hover pointer-coarse:size-10"
        >
          <Avatar name={name} className="size-7" />
        </button>
      }
    >
      <MenuLabel>{user.email}</MenuLabel>
      <MenuLink icon={<UserCog />} link={<Link to="/account" />}>
        {strings.accountSettings}
      </MenuLink>
      <MenuItem icon={<Keyboard />} onSelect={onHelp}>
        {strings.shortcuts}
      </MenuItem>
      <MenuSeparator />
      <MenuLabel>{strings.theme}</MenuLabel>
      {themes.map(([value, Icon]) => (
        <MenuItem key={value} icon={<Icon />} isCurrent={theme === value} onSelect={() => chooseTheme(value)}>
          {strings.themes[value]}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={<LogOut />} onSelect={() => void signOut()}>
        {strings.signOut}
      </MenuItem>
    </Menu>
  )
}
