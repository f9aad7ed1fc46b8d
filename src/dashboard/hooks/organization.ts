import { useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { createOrganizationApi, type OrganizationApi } from '../api/client.ts'
import {
  type BrandOfSession,
  type OrganizationOfSession,
  type Permission,
  type Session,
  useSession,
} from '../api/session.ts'

/** The organization of the URL, as the person who is signed in sees it. */
export interface OrganizationContext {
  readonly session: Session
  readonly organization: OrganizationOfSession
  /** The brand of the filter in the URL; null: all that the person may use. */
  readonly brand: BrandOfSession | null
  /** Requests in the organization and the brand. */
  readonly api: OrganizationApi
  /** Requests in the organization as a whole, whatever the filter says. */
  readonly wholeApi: OrganizationApi
  /** May the person do what needs this permission: `domains:write`? Owners and admins may all. */
  readonly may: (permission: Permission) => boolean
}

/** The organization that the URL names. Only below its route. */
export function useOrganization(): OrganizationContext {
  const session = useSession()
  const { organization: id } = useParams({ from: '/$organization' })
  const { brand: brandId } = useSearch({ from: '/$organization' })
  const organization = session.organizations.find(candidate => candidate.id === id)
  if (!organization) throw new Error('The organization of this page is not among yours any more.')
  return useMemo(() => {
    const brand = organization.brands.find(candidate => candidate.id === brandId) ?? null
    const wholeApi = createOrganizationApi(organization.id, null)
    return {
      session,
      organization,
      brand,
      api: brand ? createOrganizationApi(organization.id, brand.id) : wholeApi,
      wholeApi,
      may: permission => organization.role !== 'member' || organization.permissions.includes(permission),
    }
  }, [session, organization, brandId])
}
