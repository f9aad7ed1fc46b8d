import { queryOptions } from '@tanstack/react-query'
import { answer, type OrganizationApi } from '../../../api/client.ts'
import { requestJson } from '../../../api/request.ts'

/** Where an email came from (`GET /app/api/sent/{id}/origin`). */
export interface EmailOrigin {
  /** null: the dashboard, or a key that is gone. */
  readonly api_key: { readonly id: string; readonly name: string; readonly is_revoked: boolean } | null
  readonly request: {
    readonly id: string
    readonly created_at: string
    readonly method: string
    readonly path: string
    readonly status: number
    readonly duration_ms: number
    readonly ip: string
    readonly user_agent: string | null
  } | null
  readonly unconfirmed_after_hours: number
  /** How the provider reports; null: another provider sends now. */
  readonly reports: 'dsn' | 'webhook' | 'none' | null
}

const emailMs = 10_000

/** The email with its events, asked again while one looks at it. */
export function emailQuery({ organizationId, v1 }: OrganizationApi, id: string) {
  return queryOptions({
    queryKey: ['emails', 'one', organizationId, id],
    queryFn: () => answer(v1.GET('/v1/emails/{id}', { params: { path: { id } } })),
    refetchInterval: emailMs,
  })
}

export function originQuery({ organizationId, brandId }: OrganizationApi, id: string) {
  return queryOptions({
    queryKey: ['email-origin', organizationId, id],
    queryFn: () => requestJson<EmailOrigin>('GET', `/app/api/sent/${id}/origin`, { organizationId, brandId }),
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
