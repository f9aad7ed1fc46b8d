import type { OrganizationApi } from '../../api/client.ts'
import { useOrganization } from '../../hooks/organization.ts'

/**
 * Requests about one endpoint. To owners and admins each is open whatever the filter says, since many belong to the whole
 * organization; a member always acts in one brand.
 */
export function useWebhookApi(): OrganizationApi {
  const { api, wholeApi, organization } = useOrganization()
  return organization.role === 'member' ? api : wholeApi
}
