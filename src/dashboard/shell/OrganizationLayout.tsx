import { useParams } from '@tanstack/react-router'
import { useLive } from '../api/live.ts'
import { useOrganization } from '../hooks/organization.ts'
import { AppFrame } from './AppFrame.tsx'
import { organizationNavigation } from './navigation/navigation.ts'
import { visibleNavigation } from './navigation/visible-navigation.ts'
import { StatusStrip } from './status/StatusStrip.tsx'

/** The house of an organization. */
export function OrganizationLayout() {
  const { organization: id } = useParams({ from: '/$organization' })
  const { organization } = useOrganization()
  useLive(id)
  return <AppFrame navigation={visibleNavigation(organizationNavigation, organization)} status={<StatusStrip />} />
}
