import { useNavigate, useParams } from '@tanstack/react-router'
import { useShortcuts } from '../../hooks/shortcuts.ts'
import { strings } from '../strings.ts'
import type { NavigationGroup } from './navigation.ts'

/** `g` and a letter go to a screen of the navigation. */
export function useGoShortcuts(groups: readonly NavigationGroup[]): void {
  const navigate = useNavigate()
  const { organization } = useParams({ strict: false })
  useShortcuts(
    strings.screens,
    groups.flatMap(({ items }) =>
      items.map(({ to, label, key }) => ({
        key: `g ${key}`,
        label: strings.goTo(label),
        run: () => void navigate({ to, params: { organization }, search: keepBrand } as never),
      })),
    ),
  )
}

/** Going to another screen keeps the filter by brand, and nothing else. */
export function keepBrand(search: { readonly brand?: string }): { brand?: string } {
  return search.brand === undefined ? {} : { brand: search.brand }
}
