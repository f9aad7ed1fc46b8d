import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { newSortableToken } from '../../base/ids.ts'

const inMemoryBytes = 1024 * 1024
const keptMs = 1000
const leftoverMs = 60_000

/** Gives answers that stream the Content-Length they declare. */
export type ResponseBuffer = (response: Response) => Promise<Response>

/**
 * Bun drops the Content-Length of a body that is a stream and sends it in chunks (oven-sh/bun#10507), but not that of
 * bytes or of a file. So up to 1 MiB is read into memory, and what is larger goes through a file in `folder`, so that
 * memory does not grow with downloads. What declares no length stays as it is.
 */
export function openResponseBuffer(folder: string): ResponseBuffer {
  mkdirSync(folder, { recursive: true })
  removeLeftovers(folder)
  return async response => {
    const declared = response.headers.get('content-length')
    if (declared === null || !response.body) return response
    const { status, headers } = response
    if (Number(declared) <= inMemoryBytes) return new Response(await response.arrayBuffer(), { status, headers })
    const path = join(folder, newSortableToken())
    try {
      await writeOut(path, response.body, Number(declared))
    } finally {
      // By then Bun has opened it, which it does as soon as it has the answer.
      setTimeout(() => void unlink(path).catch(() => undefined), keptMs)
    }
    return new Response(Bun.file(path), { status, headers })
  }
}

/** What a process that died has left; a file that another one is using is younger. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat && stat.mtimeMs < Date.now() - leftoverMs) rmSync(path, { force: true })
  }
}

async function writeOut(path: string, body: ReadableStream<Uint8Array>, declared: number): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    const length = await copy(body, file)
    if (length !== declared) throw new Error(`a download of ${declared} bytes turned out to have ${length}`)
  } finally {
    await file.close()
  }
}

async function copy(body: ReadableStream<Uint8Array>, file: FileHandle): Promise<number> {
  let length = 0
  for await (const bytes of body) {
    await file.writeFile(bytes)
    length += bytes.length
  }
  return length
}
