import type { Id } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'

/** Whose data an operation reads and writes: an organization's, or only that of one of its brands. */
export interface Tenant {
  readonly organizationId: Id<'org'>
  /** The one brand that the API key is restricted to; null: the whole organization. */
  readonly brandId: Id<'brd'> | null
}

/** One brand of an organization. */
export interface BrandTenant extends Tenant {
  readonly brandId: Id<'brd'>
}

/** The refusals of {@link requireBrand}. */
export const requireBrandRefusals = ['brand_restricted'] as const

/** A tenant, and the API key that acts for it; null: a person in the dashboard. */
type ActingTenant = Tenant & { readonly keyId?: Id<'key'> | null }

/**
 * Requires that `brandId` is a brand that the tenant may use. That it is a brand of the organization is checked before.
 * @param at.of what belongs to that brand (`the mailbox mbx_…`); absent: the brand itself is meant
 * @param at.param the parameter that named it, where that is not the path
 * @throws Refusal `brand_restricted`
 */
export function requireBrand(
  tenant: ActingTenant,
  brandId: string,
  { of, param }: { readonly of?: string; readonly param?: string | undefined } = {},
): void {
  if (tenant.brandId === null || tenant.brandId === brandId) return
  const who = tenant.keyId === null ? 'You act in' : 'This API key is restricted to'
  throw refuse('brand_restricted', {
    message: `${who} another brand than ${of === undefined ? brandId : `that of ${of}`}.`,
    ...(param === undefined ? {} : { param }),
  })
}
