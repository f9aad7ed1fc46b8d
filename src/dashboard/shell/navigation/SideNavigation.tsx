import { strings } from '../strings.ts'
import { NavigationLink } from './NavigationLink.tsx'
import type { NavigationGroup } from './navigation.ts'

const link =
  'flex h-8 items-center gap-2.5 rounded-md px-2 text-sm font-medium text-muted transition-colors hover:bg-hover hover:text-ink ' +
  'aria-[current=page]:bg-hover aria-[current=page]:text-ink [&_svg]:size-4 [&_svg]:shrink-0 aria-[current=page]:[&_svg]:text-accent-ink'

/** The screens of a house, beside the screen; on narrow screens `MobileNavigation` has them. */
export function SideNavigation({ groups }: { readonly groups: readonly NavigationGroup[] }) {
  if (groups.length === 0) return null
  return (
    <nav
      aria-label={strings.navigation}
      className="sticky top-12 hidden h-[calc(100dvh-3rem)] w-56 shrink-0 overflow-y-auto border-r border-line px-3 py-4 lg:block"
    >
      <NavigationGroups groups={groups} />
    </nav>
  )
}

/** The groups with their links. */
export function NavigationGroups({
  groups,
  onSelect,
}: {
  readonly groups: readonly NavigationGroup[]
  readonly onSelect?: () => void
}) {
  return groups.map(group => (
    <div key={group.label ?? ''} className="mb-4">
      {group.label && <h2 className="px-2 pb-1 text-xs font-medium text-faint">{group.label}</h2>}
      <ul className="flex flex-col gap-px">
        {group.items.map(item => (
          <li key={item.to}>
            <NavigationLink item={item} className={link} {...(onSelect && { onClick: onSelect })}>
              <item.icon aria-hidden="true" />
              {item.label}
            </NavigationLink>
          </li>
        ))}
      </ul>
    </div>
  ))
}
