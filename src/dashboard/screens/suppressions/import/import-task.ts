import { answer, type OrganizationApi } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'
import { createTask } from '../../../hooks/task.ts'
import { suppressionStrings as strings } from '../strings.ts'
import { csvPieces } from './csv-pieces.ts'

type Counts = components['schemas']['SuppressionImport']

/** What an import has come to. */
export type ImportState =
  | { readonly kind: 'idle' }
  | {
      /** `checked` and `done` are ends: of the dry run, and of the import. */
      readonly kind: 'checking' | 'checked' | 'importing' | 'done'
      readonly file: File
      readonly progress: number
      readonly counts: Counts
    }
  | { readonly kind: 'failed'; readonly file: File; readonly error: unknown }

const mostBadLines = 100
const none: Counts = { added: 0, unchanged: 0, bad: 0, bad_lines: [] }

/** The import of this window: it goes on when the screen is left. */
export const importTask = createTask<ImportState>({ kind: 'idle' })

/** Forgets the last import. */
export function clearImport(): void {
  importTask.set({ kind: 'idle' })
}

/**
 * Sends a file piece by piece. Resolves when it is through; what went wrong is in the state.
 * @param isDry only finds out what it would do
 */
export async function runImport(file: File, api: OrganizationApi, brandId: string, isDry: boolean): Promise<void> {
  let counts = none
  const show = (kind: 'checking' | 'checked' | 'importing' | 'done', progress: number) =>
    importTask.set({ kind, file, progress, counts })
  const running = isDry ? 'checking' : 'importing'
  show(running, 0)
  try {
    let isEmpty = true
    for await (const { header, lines, firstLine, progress } of csvPieces(file)) {
      isEmpty = false
      const body = { header, lines, first_line: firstLine, dry_run: isDry, ...(brandId && { brand_id: brandId }) }
      counts = sum(counts, await answer(api.app.POST('/app/api/suppressions/import', { body })))
      show(running, progress)
    }
    if (isEmpty) throw new Error(strings.noHeader)
    show(isDry ? 'checked' : 'done', 1)
  } catch (error) {
    importTask.set({ kind: 'failed', file, error })
  }
}

function sum(a: Counts, b: Counts): Counts {
  return {
    added: a.added + b.added,
    unchanged: a.unchanged + b.unchanged,
    bad: a.bad + b.bad,
    bad_lines: [...a.bad_lines, ...b.bad_lines].slice(0, mostBadLines),
  }
}
