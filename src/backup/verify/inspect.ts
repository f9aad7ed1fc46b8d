import { createHash, type Hash } from 'node:crypto'
import { segmentsFolder } from '../files/names.ts'
import { readContent, readFileBytes, readLines } from '../files/read-file.ts'
import { readCatalogEntry } from '../format/catalog.ts'
import type { DecryptionKeys } from '../format/encryption.ts'
import type { BackupFile, BackupTable, Manifest } from '../format/manifest.ts'
import { manifestFiles } from '../format/manifest.ts'
import { readRow, splitLines } from '../format/row.ts'
import { readSegment, type SegmentPart } from '../format/segment.ts'
import type { ProgressReporter } from '../progress.ts'

/** What an inspection found. */
export interface InspectionResult {
  /** A sentence for each problem, starting with the file or the blob, in the order of {@link manifestFiles}. */
  readonly problems: readonly string[]
  /** All content was checked; false: encrypted files were only compared with their hashes. */
  readonly isComplete: boolean
}

/** How many blobs of a damaged segment are listed. */
const maxListedBlobs = 20

/**
 * Reads every file of a backup, and checks that it is there and as it was written; that the tables have the rows that the manifest
 * counts; and that each blob has the content of its hash, unless it was damaged before. Without keys (null) encrypted files are
 * only compared with their hashes.
 */
export async function inspectBackup(
  folder: string,
  manifest: Manifest,
  keys: DecryptionKeys | null,
  progress: ProgressReporter,
): Promise<InspectionResult> {
  const problems: string[] = []
  const damaged = new Set<string>()
  const checkFile = async (file: BackupFile, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      damaged.add(file.name)
      const { message } = error as Error
      problems.push(message.startsWith(file.name) ? message : `${file.name} cannot be read: ${message}`)
    }
    done++
    progress.report('files', done, all.length)
  }
  const all = manifestFiles(manifest)
  let done = 0
  const canRead = (file: BackupFile) => keys !== null || file.name.endsWith('.zst')
  const usableKeys = keys ?? { identities: [] }

  const { secret_key, tables, catalog, segments } = manifest
  if (secret_key) await checkFile(secret_key, async () => void (await readFileBytes(folder, secret_key)))
  for (const table of tables) {
    let rows = 0
    for (const file of table.files)
      await checkFile(file, async () => {
        if (canRead(file)) rows += countRows(table, await readContent(folder, file, usableKeys))
        else await readFileBytes(folder, file)
      })
    const wasRead = table.files.every(file => !damaged.has(file.name) && canRead(file))
    if (wasRead && rows !== table.rows)
      problems.push(`the table ${table.name} has ${rows} rows; ${table.rows} were written`)
  }
  for (const file of catalog) await checkFile(file, async () => void (await readLines(folder, file, usableKeys)))
  const hasher = openBlobHasher()
  for (const file of segments)
    await checkFile(file, async () => {
      if (canRead(file)) hasher.add(file.name, await readContent(folder, file, usableKeys))
      else await readFileBytes(folder, file)
    })
  const intactCatalog = catalog.filter(file => !damaged.has(file.name))
  const lost = await describeLostBlobs(folder, intactCatalog, damaged)
  const damagedBefore = new Set(manifest.damaged_blobs)
  const wrong = (await blobsOfBackup(folder, intactCatalog, hasher.end())).filter(id => !damagedBefore.has(id))
  return {
    problems: [...problems, ...lost, ...wrong.map(id => `the blob ${id} does not have the content of its hash`)],
    isComplete: all.every(canRead),
  }
}

function countRows(table: BackupTable, content: Uint8Array): number {
  const lines = splitLines(content)
  for (const line of lines) readRow(table.columns, line)
  return lines.length
}

/** Says which blobs the damaged segments contained. */
async function describeLostBlobs(
  folder: string,
  catalog: readonly BackupFile[],
  damaged: ReadonlySet<string>,
): Promise<readonly string[]> {
  const lost = new Map<string, string[]>()
  let unlisted = 0
  for (const file of [...damaged].some(name => name.startsWith(`${segmentsFolder}/`)) ? catalog : [])
    for (const line of await readLines(folder, file, { identities: [] })) {
      const [id, segments] = readCatalogEntry(line)
      const segment = segments.find(name => damaged.has(name))
      if (segment === undefined) continue
      const listed = lost.get(segment) ?? []
      lost.set(segment, listed)
      if (listed.length < maxListedBlobs) listed.push(id)
      else unlisted++
    }
  return [...lost].map(
    ([segment, ids]) =>
      `${segment} contained the blobs ${ids.join(', ')}${unlisted > 0 ? ` (and ${unlisted} more in damaged segments)` : ''}`,
  )
}

/** Those of the blobs that the backup has in these segments. A segment may also contain parts of blobs of other backups. */
async function blobsOfBackup(
  folder: string,
  catalog: readonly BackupFile[],
  segmentOf: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const file of segmentOf.size === 0 ? [] : catalog)
    for (const line of await readLines(folder, file, { identities: [] })) {
      const [id, segments] = readCatalogEntry(line)
      const segment = segmentOf.get(id)
      if (segment !== undefined && segments.includes(segment)) found.push(id)
    }
  return found
}

/** Compares blobs with their hashes, from the chunks in consecutive segments. */
function openBlobHasher() {
  /** The blobs with wrong content, and the segment in which each ends. */
  const wrong = new Map<string, string>()
  let current: { readonly part: SegmentPart; readonly hash: Hash; bytes: number; segment: string } | undefined
  const close = () => {
    if (!current) return
    const { part, hash, bytes, segment } = current
    if (bytes !== part.size || hash.digest('hex') !== part.sha256) wrong.set(part.blob, segment)
    current = undefined
  }
  return {
    add(segment: string, content: Buffer): void {
      const { parts, chunks } = readSegment(content)
      const byPart = Map.groupBy(chunks, chunk => chunk.part)
      for (const part of parts) {
        if (current?.part.blob !== part.blob) {
          close()
          current = { part, hash: createHash('sha256'), bytes: 0, segment }
        }
        current.segment = segment
        for (const { bytes } of byPart.get(part) ?? []) {
          current.hash.update(bytes)
          current.bytes += bytes.length
        }
      }
    },
    end(): ReadonlyMap<string, string> {
      close()
      return wrong
    },
  }
}
