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

/** What is wrong with a backup. */
export interface InspectionResult {
  /** A sentence each, that begins with the file or the blob; in the order of {@link manifestFiles}. */
  readonly problems: readonly string[]
  /** Could all be looked into, or were encrypted files only compared with what was written? */
  readonly isComplete: boolean
}

/** How many blobs of a damaged segment are named. */
const maxNamedBlobs = 20

/**
 * Reads every file of a backup: is it there, is it what was written, and, where it can be decrypted, does it hold the rows
 * that the manifest counts, and each blob the bytes of its hash? Blobs that were damaged before do not count.
 */
export async function inspectBackup(
  folder: string,
  manifest: Manifest,
  opening: DecryptionKeys | null,
  progress: ProgressReporter,
): Promise<InspectionResult> {
  const sentences: string[] = []
  const damaged = new Set<string>()
  const look = async (file: BackupFile, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      damaged.add(file.name)
      const { message } = error as Error
      sentences.push(message.startsWith(file.name) ? message : `${file.name} cannot be read: ${message}`)
    }
    done++
    progress.report('files', done, all.length)
  }
  const all = manifestFiles(manifest)
  let done = 0
  const canOpen = (file: BackupFile) => opening !== null || file.name.endsWith('.zst')
  const opened = opening ?? { identities: [] }

  const { secret_key, tables, catalog, segments } = manifest
  if (secret_key) await look(secret_key, async () => void (await readFileBytes(folder, secret_key)))
  for (const table of tables) {
    let rows = 0
    for (const file of table.files)
      await look(file, async () => {
        if (canOpen(file)) rows += countRows(table, await readContent(folder, file, opened))
        else await readFileBytes(folder, file)
      })
    const isWhole = table.files.every(file => !damaged.has(file.name) && canOpen(file))
    if (isWhole && rows !== table.rows)
      sentences.push(`the table ${table.name} has ${rows} rows; ${table.rows} were written`)
  }
  for (const file of catalog) await look(file, async () => void (await readLines(folder, file, opened)))
  const blobs = openBlobHasher()
  for (const file of segments)
    await look(file, async () => {
      if (canOpen(file)) blobs.take(file.name, await readContent(folder, file, opened))
      else await readFileBytes(folder, file)
    })
  const whole = catalog.filter(backupFile => !damaged.has(backupFile.name))
  const lost = await describeLostBlobs(folder, whole, damaged)
  const known = new Set(manifest.damaged_blobs)
  const wrong = (await blobsOfBackup(folder, whole, blobs.end())).filter(id => !known.has(id))
  return {
    problems: [...sentences, ...lost, ...wrong.map(id => `the blob ${id} does not have the bytes of its hash`)],
    isComplete: all.every(canOpen),
  }
}

function countRows(table: BackupTable, content: Uint8Array): number {
  const lines = splitLines(content)
  for (const line of lines) readRow(table.columns, line)
  return lines.length
}

/** Which blobs the damaged segments held. */
async function describeLostBlobs(
  folder: string,
  catalog: readonly BackupFile[],
  damaged: ReadonlySet<string>,
): Promise<readonly string[]> {
  const lost = new Map<string, string[]>()
  let more = 0
  for (const file of [...damaged].some(value => value.startsWith(`${segmentsFolder}/`)) ? catalog : [])
    for (const line of await readLines(folder, file, { identities: [] })) {
      const [id, segments] = readCatalogEntry(line)
      const segment = segments.find(segment => damaged.has(segment))
      if (segment === undefined) continue
      const named = lost.get(segment) ?? []
      lost.set(segment, named)
      if (named.length < maxNamedBlobs) named.push(id)
      else more++
    }
  return [...lost].map(
    ([segment, ids]) => `${segment} held the blobs ${ids.join(', ')}${more > 0 ? ` (with others: ${more} more)` : ''}`,
  )
}

/** Those of these blobs that the backup has in these segments: a segment may hold half of one that it has no more. */
async function blobsOfBackup(
  folder: string,
  catalog: readonly BackupFile[],
  asked: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const wanted: string[] = []
  for (const file of asked.size === 0 ? [] : catalog)
    for (const line of await readLines(folder, file, { identities: [] })) {
      const [id, segments] = readCatalogEntry(line)
      const segment = asked.get(id)
      if (segment !== undefined && segments.includes(segment)) wanted.push(id)
    }
  return wanted
}

/** Hashes blobs as their chunks come, in segments that follow each other. */
function openBlobHasher() {
  /** Where each ended. */
  const wrong = new Map<string, string>()
  let current: { readonly part: SegmentPart; readonly hash: Hash; bytes: number; segment: string } | undefined
  const close = () => {
    if (!current) return
    const { part, hash, bytes, segment } = current
    if (bytes !== part.size || hash.digest('hex') !== part.sha256) wrong.set(part.blob, segment)
    current = undefined
  }
  return {
    take(segment: string, content: Buffer): void {
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
