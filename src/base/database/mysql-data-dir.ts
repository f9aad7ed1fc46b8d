import { stat } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Db } from './database.ts'

/** Whether the database runs on this machine, judging by its URL. */
function isLocal(databaseUrl: string): boolean {
  const url = new URL(databaseUrl)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return url.searchParams.has('socketPath') || host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** The data directory of a database on this machine; undefined: it is elsewhere, such as in a container of its own. */
export async function mysqlDataDir(db: Db, databaseUrl: string): Promise<string | undefined> {
  if (!isLocal(databaseUrl)) return undefined
  const { rows } = await sql<{ readonly folder: string }>`SELECT @@datadir AS folder`.execute(db)
  const folder = rows[0]?.folder
  const found = folder === undefined ? undefined : await stat(folder).catch(() => undefined)
  return found?.isDirectory() ? folder : undefined
}

/** A function that gives the same, and asks the database only until it has answered once. */
export function cachedMysqlDataDir(db: Db, databaseUrl: string): () => Promise<string | undefined> {
  let cached: { readonly folder: string | undefined } | undefined
  return async () => {
    cached ??= await mysqlDataDir(db, databaseUrl).then(
      folder => ({ folder }),
      () => undefined,
    )
    return cached?.folder
  }
}
