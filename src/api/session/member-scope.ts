import { refuse } from '../../base/refusal.ts'
import type { Scope } from '../scope.ts'
import type { SessionMember } from './session.ts'

/** The refusals of {@link requireMemberScope}. */
export const memberScopeRefusals = ['insufficient_scope'] as const

/** Requires that the member may do this at the moment. @throws Refusal `insufficient_scope` */
export function requireMemberScope({ scopes }: Pick<SessionMember, 'scopes'>, scope: Scope): void {
  if (scopes.has(scope)) return
  throw refuse('insufficient_scope', {
    message: `Your access does not include ${scope}; an owner or administrator can add it.`,
    reason: scope,
  })
}
