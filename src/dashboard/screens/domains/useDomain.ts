import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { queryKey } from '../../api/keys.ts'
import { showToast } from '../../components/overlays/toasts.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { domainDetailStrings as strings } from './strings.ts'
import type { Publication } from './types.ts'

/** A domain, what DNS shows of it, and what can be done with it. Whatever is done, both are loaded again. */
export function useDomain(id: string) {
  const { api } = useOrganization()
  const queryClient = useQueryClient()
  const [publication, setPublication] = useState<Publication | null>(null)
  const params = { path: { id } }
  const onSettled = () => queryClient.invalidateQueries({ queryKey: ['domains'] })
  const domain = useQuery({
    queryKey: queryKey('domains', api, id),
    queryFn: () => answer(api.v1.GET('/v1/domains/{id}', { params })),
  })
  const setup = useQuery({
    queryKey: queryKey('domains', api, id, 'dns'),
    queryFn: () => answer(api.v1.GET('/v1/domains/{id}/dns', { params })),
  })
  const security = useQuery({
    queryKey: queryKey('domains', api, id, 'security'),
    queryFn: () => answer(api.app.GET('/app/api/domains/{id}/security', { params })),
  })
  const check = useMutation({ mutationFn: () => answer(api.v1.POST('/v1/domains/{id}/check', { params })), onSettled })
  const provision = useMutation({
    mutationFn: () => answer(api.v1.POST('/v1/domains/{id}/provision', { params, body: { publish_dns: true } })),
    onSettled,
  })
  const receive = useMutation({
    mutationFn: () => answer(api.v1.POST('/v1/domains/{id}/receiving', { params })),
    onSettled,
  })
  const publish = useMutation({
    mutationFn: () => answer(api.v1.POST('/v1/domains/{id}/publish-dns', { params })),
    onSuccess: result => {
      setPublication(result)
      const count = result.published.length
      showToast(count === 0 ? strings.nothingToPublish : strings.published(count))
      check.mutate()
    },
    onSettled,
  })
  return { domain, setup, security, check, provision, receive, publish, publication }
}

/** What {@link useDomain} gives. */
export type DomainQueries = ReturnType<typeof useDomain>
