import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../../api/organization-health.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { LampLink } from './LampLink.tsx'
import { LampList } from './LampList.tsx'

/** What needs somebody in the organization, on every screen; nothing when all is well. */
export function StatusStrip() {
  const { api } = useOrganization()
  const { data } = useQuery(statusQuery(api))
  return <LampList lamps={data?.data ?? []} link={(lamp, props) => <LampLink lamp={lamp} {...props} />} />
}
