import { cleanFolder, listBackups, removeBackup } from './folder.ts'

/** Removes all backups but the newest, and the segments that none of those needs. Gives the ids of the removed. */
export async function pruneBackups(folder: string, keep: number): Promise<readonly string[]> {
  const removed = listBackups(folder).slice(0, -keep)
  for (const id of removed) await removeBackup(folder, id)
  await cleanFolder(folder)
  return removed
}
