import { refuse } from '../../base/refusal.ts'
import type { Scope } from '../scope.ts'
import type { SessionMember } from './session.ts'

/** Requires that the member has this permission. @throws Refusal `insufficient_scope` */
export function requireScope(member: SessionMember, scope: Scope): void {
  if (member.scopes.has(scope)) return
  throw refuse('insufficient_scope', {
    message: `Your access does not include ${scope}; an owner or administrator can grant it.`,
    reason: scope,
  })
}
