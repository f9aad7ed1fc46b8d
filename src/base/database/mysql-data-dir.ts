import { stat } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Db } from './database.ts'

/** Is the database on this machine, as far as its address tells? */
function isLocal(databaseUrl: string): boolean {
  const url = new URL(databaseUrl)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return url.searchParams.has('socketPath') || host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** Where a database on this machine keeps its data; undefined: it is elsewhere, such as in a container of its own. */
export async function mysqlDataDir(db: Db, databaseUrl: string): Promise<string | undefined> {
  if (!isLocal(databaseUrl)) return undefined
  const { rows } = await sql<{ readonly folder: string }>`SELECT @@datadir AS folder`.execute(db)
  const folder = rows[0]?.folder
  const found = folder === undefined ? undefined : await stat(folder).catch(() => undefined)
  return found?.isDirectory() ? folder : undefined
}

/** The same, asked until it is answered, and then remembered. */
export function cachedMysqlDataDir(db: Db, databaseUrl: string): () => Promise<string | undefined> {
  let known: { readonly folder: string | undefined } | undefined
  return async () => {
    const answer =
      known ??
      (await mysqlDataDir(db, databaseUrl).then(
        folder => ({ folder }),
        () => undefined,
      ))
    known = answer
    return answer?.folder
  }
}
