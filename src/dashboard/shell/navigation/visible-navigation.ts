import type { OrganizationOfSession } from '../../api/session.ts'
import type { NavigationGroup } from './navigation.ts'

/** The screens that this member may see: the others are absent. */
export function visibleNavigation(
  groups: readonly NavigationGroup[],
  organization: OrganizationOfSession,
): readonly NavigationGroup[] {
  return groups
    .map(group => ({ ...group, items: group.items.filter(item => item.isFor?.(organization) ?? true) }))
    .filter(group => group.items.length > 0)
}
