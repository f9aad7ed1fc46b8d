import type { Db } from '../../base/database/database.ts'
import { buildSegments } from '../../inbox/search/build-segments.ts'
import { openTextWorker } from '../../inbox/text-worker/text-worker.ts'
import type { ProgressReporter } from '../progress.ts'
import { selectOrganizations } from './table.ts'

const timeoutMs = 120_000

/** Builds the search index from the search texts. May be run again after it was killed. */
export async function rebuildSearchIndex(db: Db, progress: ProgressReporter): Promise<void> {
  const texts = openTextWorker({ timeoutMs })
  try {
    let segments = 0
    for (const id of await selectOrganizations(db))
      for (let built = 1; built > 0; segments += built) {
        built = (await buildSegments({ db, texts }, [id])).length
        progress.report('segments of the search index', segments)
      }
  } finally {
    texts.close()
  }
}
