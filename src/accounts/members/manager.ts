import type { Role } from '../../base/database/schema.ts'
import { refuse } from '../../base/refusal.ts'

/** The refusals of {@link requireManager}. */
export const managerRefusals = ['role_not_allowed'] as const

/** Requires an owner or an administrator of the organization. @throws Refusal `role_not_allowed` */
export function requireManager({ role }: { readonly role: Role }): void {
  if (role === 'member')
    throw refuse('role_not_allowed', { message: 'Only owners and administrators of the organization may do this.' })
}
