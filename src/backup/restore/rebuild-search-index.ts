import type { Db } from '../../base/database/database.ts'
import { buildSegments } from '../../inbox/search/build-segments.ts'
import { openTextWorker } from '../../inbox/text-worker/text-worker.ts'
import type { ProgressReporter } from '../progress.ts'
import { selectOrganizations } from './table.ts'

const timeoutMs = 120_000

/** Makes the index of all search text, of which no block is there. May be run again after it was killed. */
export async function rebuildSearchIndex(db: Db, progress: ProgressReporter): Promise<void> {
  const texts = openTextWorker({ timeoutMs })
  try {
    let blocks = 0
    for (const id of await selectOrganizations(db))
      for (let made = 1; made > 0; blocks += made) {
        made = await buildSegments({ db, texts }, [id])
        progress.report('blocks of the search index', blocks)
      }
  } finally {
    texts.close()
  }
}
