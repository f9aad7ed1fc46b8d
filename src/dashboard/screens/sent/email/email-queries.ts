import { queryOptions } from '@tanstack/react-query'
import { answer, type OrganizationApi } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'

/** Where an email came from, and what its provider reports. */
export type EmailOrigin = components['schemas']['EmailOrigin']

const emailMs = 10_000

/** The email with its events, asked again while one looks at it. */
export function emailQuery({ organizationId, v1 }: OrganizationApi, id: string) {
  return queryOptions({
    queryKey: ['emails', 'one', organizationId, id],
    queryFn: () => answer(v1.GET('/v1/emails/{id}', { params: { path: { id } } })),
    refetchInterval: emailMs,
  })
}

export function originQuery({ organizationId, app }: OrganizationApi, id: string) {
  return queryOptions({
    queryKey: ['email-origin', organizationId, id],
    queryFn: () => answer(app.GET('/app/api/sent/{id}/origin', { params: { path: { id } } })),
  })
}

export function contentQuery({ organizationId, v1 }: OrganizationApi, id: string) {
  return queryOptions({
    queryKey: ['email-content', organizationId, id],
    queryFn: () => answer(v1.GET('/v1/emails/{id}/content', { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function suppressionQuery({ organizationId, v1 }: OrganizationApi, brandId: string, email: string) {
  return queryOptions({
    queryKey: ['suppressions', 'check', organizationId, brandId, email],
    queryFn: () => answer(v1.GET('/v1/suppressions/check', { params: { query: { email, brand_id: brandId } } })),
  })
}

export function replyQuery({ organizationId, v1 }: OrganizationApi, id: string) {
  return queryOptions({
    queryKey: ['messages', 'one', organizationId, id],
    queryFn: () => answer(v1.GET('/v1/inbox/{id}', { params: { path: { id } } })),
  })
}
