import { useState } from 'react'
import { createOrganizationApi, type OrganizationApi } from '../../api/client.ts'
import { useOrganization } from '../../hooks/organization.ts'

/** A brand to choose for something that belongs to one, beginning with that of the filter. */
export interface BrandChoice {
  readonly brandId: string
  readonly setBrandId: (id: string) => void
  readonly options: readonly { readonly value: string; readonly label: string }[]
  /** Requests in that brand. */
  readonly api: OrganizationApi
}

export function useBrandChoice(): BrandChoice {
  const { organization, brand } = useOrganization()
  const [chosen, setBrandId] = useState<string | null>(null)
  const brandId = chosen ?? brand?.id ?? organization.brands[0]?.id ?? ''
  return {
    brandId,
    setBrandId,
    options: organization.brands.map(({ id, name }) => ({ value: id, label: name })),
    api: createOrganizationApi(organization.id, brandId || null),
  }
}
