import type { BackupFile } from './manifest.ts'

/** Where a blob is: its id, and the segments that hold it, by their names. */
export type CatalogEntry = readonly [id: string, segments: readonly string[]]

export function writeCatalogEntry(entry: CatalogEntry): string {
  return JSON.stringify(entry)
}

export function readCatalogEntry(line: string): CatalogEntry {
  return JSON.parse(line) as CatalogEntry
}

/** What an earlier backup has, asked in the order of ids. */
export interface EarlierCatalog {
  /** The segments that hold this blob; undefined: it has not got it. Each id sorts after the one asked before. */
  segmentsOf(id: string): Promise<readonly string[] | undefined>
}

export const emptyEarlierCatalog: EarlierCatalog = { segmentsOf: () => Promise.resolve(undefined) }

/**
 * Goes through the lines of a catalog, file by file, beside ids that come in the same order: both are as long as the store
 * has blobs, and neither is held in memory.
 */
export function openEarlierCatalog(
  files: readonly BackupFile[],
  linesOf: (file: BackupFile) => Promise<readonly string[]>,
  isUsable: (segment: string) => boolean,
): EarlierCatalog {
  async function* entries(): AsyncGenerator<CatalogEntry> {
    for (const file of files) for (const line of await linesOf(file)) yield readCatalogEntry(line)
  }
  const all = entries()
  let current: CatalogEntry | undefined
  let isAtEnd = false
  return {
    async segmentsOf(id) {
      while (!isAtEnd && (current === undefined || current[0] < id)) {
        const { value, done } = await all.next()
        isAtEnd = done ?? false
        current = isAtEnd ? undefined : (value as CatalogEntry)
      }
      if (current?.[0] !== id || current[1].length === 0) return undefined
      return current[1].every(isUsable) ? current[1] : undefined
    },
  }
}
