import { answer, app } from '../../../api/client.ts'
import type { components, operations } from '../../../api/generated/app.ts'

export type QuarantinedMessage = components['schemas']['QuarantinedMessage']

export type QuarantineActionName = 'release' | 'delete' | 'rescan'

/** Which messages are meant. */
export type QuarantineSelection = { readonly ids: string[] } | { readonly sha256: string }

export type QuarantineResult = operations['changeQuarantine']['responses']['200']['content']['application/json']

/** Counts what an action would do, among the first thousand of the selection. */
export function countQuarantineAction(action: QuarantineActionName, selection: QuarantineSelection) {
  return call(action, { ...selection, dry_run: true })
}

/** Does it, a thousand messages at a time; gives how many there were. */
export async function runQuarantineAction(
  action: QuarantineActionName,
  selection: QuarantineSelection,
): Promise<number> {
  let total = 0
  let cursor: string | null = null
  do {
    const result: QuarantineResult = await call(action, { ...selection, ...(cursor !== null && { cursor }) })
    total += result.count
    cursor = result.next_cursor
  } while (cursor !== null)
  return total
}

function call(
  action: QuarantineActionName,
  body: QuarantineSelection & { readonly dry_run?: boolean; readonly cursor?: string },
): Promise<QuarantineResult> {
  return answer(app.POST('/app/api/instance/quarantine/{action}', { params: { path: { action } }, body }))
}
