import { toIso } from '../../base/clock.ts'
import { fromJson } from '../../base/database/schema.ts'
import type { AuditRow } from './table.ts'

export type AuditEntryJson = ReturnType<typeof toJsonAuditEntry>

/** An audit entry as the command and the operators' screen show it. */
export function toJsonAuditEntry({ id, at, actor, ip, action, subject, organization_id, detail }: AuditRow) {
  return { id, at: toIso(at), actor, ip, action, subject, organization_id, detail: { ...fromJson(detail) } }
}
