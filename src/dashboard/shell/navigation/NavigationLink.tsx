import { Link, type LinkProps, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { NavigationItem } from './navigation.ts'
import { keepBrand } from './useGoShortcuts.ts'

interface NavigationLinkProps {
  readonly item: NavigationItem
  readonly className: string
  readonly children: ReactNode
  readonly onClick?: () => void
}

/** A link of the navigation; the screen that is shown has `aria-current`. */
export function NavigationLink({ item, className, children, onClick }: NavigationLinkProps) {
  const { organization } = useParams({ strict: false })
  const isHouse = item.to === '/$organization' || item.to === '/instance'
  // The table of the navigation is one list for all houses: which parameters a path has is known to the router alone.
  const target = { to: item.to, params: { organization }, search: keepBrand } as unknown as LinkProps
  return (
    <Link {...target} activeOptions={{ exact: isHouse, includeSearch: false }} className={className} onClick={onClick}>
      {children}
    </Link>
  )
}
