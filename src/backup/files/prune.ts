import { cleanFolder, listBackups, removeBackup } from './folder.ts'

/** Removes all but the newest `keep` backups, and the segments that these do not use; gives the ids of the removed backups. */
export async function pruneBackups(folder: string, keep: number): Promise<readonly string[]> {
  const removed = listBackups(folder).slice(0, -keep)
  for (const id of removed) await removeBackup(folder, id)
  await cleanFolder(folder)
  return removed
}
