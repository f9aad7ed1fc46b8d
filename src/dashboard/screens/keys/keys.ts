import { answer, type OrganizationApi } from '../../api/client.ts'
import type { components } from '../../api/generated/app.ts'

/** An API key, without its secret. */
export type ApiKey = components['schemas']['Key']

export interface KeyFilter {
  readonly state?: 'live' | 'all'
  /** Only keys that belong to this member. */
  readonly member_id?: string
}

/** A page of the organization's keys that the person may see. */
export function loadKeys({ app }: OrganizationApi, filter: KeyFilter, cursor?: string) {
  const query = { ...filter, ...(cursor !== undefined && { cursor }) }
  return answer(app.GET('/app/api/keys', { params: { query } }))
}
