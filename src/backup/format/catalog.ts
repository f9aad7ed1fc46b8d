import type { BackupFile } from './manifest.ts'

/** The id of a blob, and the names of the segments that contain it. */
export type CatalogEntry = readonly [id: string, segments: readonly string[]]

export function writeCatalogEntry(entry: CatalogEntry): string {
  return JSON.stringify(entry)
}

export function readCatalogEntry(line: string): CatalogEntry {
  return JSON.parse(line) as CatalogEntry
}

/** The catalog of an earlier backup, read in step with ids in ascending order. */
export interface EarlierCatalog {
  /** The segments that contain this blob; undefined: the backup does not have it. Each call needs a higher id than the one before. */
  segmentsOf(id: string): Promise<readonly string[] | undefined>
}

export const emptyEarlierCatalog: EarlierCatalog = { segmentsOf: () => Promise.resolve(undefined) }

/**
 * Reads a catalog line by line while ids are looked up in the same order, since it has a line for each blob and does not fit into
 * memory. A blob counts as missing when one of its segments is not usable.
 */
export function openEarlierCatalog(
  files: readonly BackupFile[],
  readLines: (file: BackupFile) => Promise<readonly string[]>,
  isUsable: (segment: string) => boolean,
): EarlierCatalog {
  async function* entries(): AsyncGenerator<CatalogEntry> {
    for (const file of files) for (const line of await readLines(file)) yield readCatalogEntry(line)
  }
  const iterator = entries()
  let current: CatalogEntry | undefined
  let isAtEnd = false
  return {
    async segmentsOf(id) {
      while (!isAtEnd && (current === undefined || current[0] < id)) {
        const { value, done } = await iterator.next()
        isAtEnd = done ?? false
        current = isAtEnd ? undefined : (value as CatalogEntry)
      }
      if (current?.[0] !== id || current[1].length === 0) return undefined
      return current[1].every(isUsable) ? current[1] : undefined
    },
  }
}
