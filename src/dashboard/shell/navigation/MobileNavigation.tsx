import { Menu as MenuIcon } from 'lucide-react'
import { useState } from 'react'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { strings } from '../strings.ts'
import { NavigationLink } from './NavigationLink.tsx'
import type { NavigationGroup } from './navigation.ts'
import { NavigationGroups } from './SideNavigation.tsx'

const tab =
  'flex h-14 flex-1 min-w-0 flex-col items-center justify-center gap-0.5 text-2xs font-medium text-muted ' +
  'aria-[current=page]:text-accent-ink [&_svg]:size-5'
const shownItems = 4

/** The first screens of a house at the bottom of narrow screens, and all of them behind a button. */
export function MobileNavigation({ groups }: { readonly groups: readonly NavigationGroup[] }) {
  const [isOpen, setOpen] = useState(false)
  const items = groups.flatMap(group => group.items)
  if (items.length === 0) return null
  return (
    <>
      <nav
        aria-label={strings.navigation}
        className="fixed inset-x-0 bottom-0 z-30 flex border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] lg:hidden"
      >
        {items.slice(0, shownItems).map(item => (
          <NavigationLink key={item.to} item={item} className={tab}>
            <item.icon aria-hidden="true" />
            <span className="max-w-full truncate">{item.label}</span>
          </NavigationLink>
        ))}
        <button type="button" className={tab} aria-haspopup="dialog" onClick={() => setOpen(true)}>
          <MenuIcon aria-hidden="true" />
          {strings.menu}
        </button>
      </nav>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={strings.menu}>
        <NavigationGroups groups={groups} onSelect={() => setOpen(false)} />
      </Dialog>
    </>
  )
}
