import { answer, type OrganizationApi } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'
import { createTask } from '../../../hooks/task.ts'

/** Which suppressions belong to an incident; what is absent matches all. */
export interface Incident {
  readonly reply?: string
  /** ISO 8601. */
  readonly from?: string
  readonly to?: string
}

type Example = components['schemas']['SuppressionUndo']['examples'][number]

/** What undoing an incident has come to. */
export type UndoState =
  | { readonly kind: 'idle' }
  | {
      /** `found` and `done` are ends: of the dry run, and of the undoing. */
      readonly kind: 'looking' | 'found' | 'undoing' | 'done'
      readonly incident: Incident
      readonly checked: number
      readonly undone: number
      readonly examples: readonly Example[]
    }
  | { readonly kind: 'failed'; readonly incident: Incident; readonly error: unknown }

const mostExamples = 100

/** The undoing of this window: it goes on when the screen is left. */
export const undoTask = createTask<UndoState>({ kind: 'idle' })

/** Goes through the whole list, as much as the server does at a time. What went wrong is in the state. */
export async function runUndo(api: OrganizationApi, incident: Incident, isDry: boolean): Promise<void> {
  let [checked, undone]: [number, number] = [0, 0]
  let examples: readonly Example[] = []
  let cursor: string | null = null
  const show = (kind: 'looking' | 'found' | 'undoing' | 'done') =>
    undoTask.set({ kind, incident, checked, undone, examples })
  show(isDry ? 'looking' : 'undoing')
  try {
    do {
      const body: Incident & { dry_run: boolean; cursor?: string } = {
        ...incident,
        dry_run: isDry,
        ...(cursor !== null && { cursor }),
      }
      const step = await answer(api.app.POST('/app/api/suppressions/undo', { body }))
      checked += step.checked
      undone += step.undone
      examples = [...examples, ...step.examples].slice(0, mostExamples)
      cursor = step.next_cursor
      show(isDry ? 'looking' : 'undoing')
    } while (cursor !== null)
    show(isDry ? 'found' : 'done')
  } catch (error) {
    undoTask.set({ kind: 'failed', incident, error })
  }
}
