import { useQuery } from '@tanstack/react-query'
import { answer } from '../../api/client.ts'
import { useOrganization } from '../../hooks/organization.ts'

/** An address that the member could send from; null: no domain is ready, or not known. */
export function useSenderAddress(): { readonly from: string | null; readonly isKnown: boolean } {
  const { api, may } = useOrganization()
  const mayRead = may('domains:read')
  const { data, isFetched } = useQuery({
    queryKey: ['domains', api.organizationId, api.brandId],
    queryFn: () => answer(api.v1.GET('/v1/domains')),
    enabled: mayRead,
  })
  const ready = data?.data.find(domain => domain.ready_to_send)
  return { from: ready ? `hello@${ready.domain}` : null, isKnown: isFetched || !mayRead }
}
