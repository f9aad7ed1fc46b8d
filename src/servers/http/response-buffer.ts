import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { newSortableToken } from '../../base/ids.ts'

const maxMemoryBytes = 1024 * 1024
const unlinkAfterMs = 1000
const staleMs = 60_000

/** Gives a response with a streamed body the Content-Length that it declares. `request`: what it responds to. */
export type ResponseBuffer = (response: Response, request: Request) => Promise<Response>

/**
 * Bun drops the Content-Length of a streamed body and sends it in chunks (oven-sh/bun#10507), but keeps that of bytes or
 * of a file. So a body of up to 1 MiB is read into memory, and a larger one is written to a file in `folder`, so that
 * memory does not grow with downloads. A response that declares no length is left as it is.
 */
export function openResponseBuffer(folder: string): ResponseBuffer {
  mkdirSync(folder, { recursive: true })
  removeStaleFiles(folder)
  return async (response, request) => {
    const declared = response.headers.get('content-length')
    if (declared === null || !response.body) return response
    const { status, headers } = response
    if (Number(declared) <= maxMemoryBytes) return new Response(await response.arrayBuffer(), { status, headers })
    const path = join(folder, newSortableToken())
    try {
      await writeToFile(path, response.body, Number(declared))
    } finally {
      // Bun opens the file as soon as it gets the response.
      setTimeout(() => void unlink(path).catch(() => undefined), unlinkAfterMs)
    }
    if (request.headers.has('range')) ignoreRange(headers, Number(declared))
    return new Response(Bun.file(path), { status, headers })
  }
}

/**
 * Bun answers a Range with the part of a file that it asks for, unless the response has a Content-Range of its own. With a
 * status other than 206 and 416 that header has no meaning (RFC 9110 §14.4).
 */
function ignoreRange(headers: Headers, length: number): void {
  headers.set('content-range', `bytes 0-${length - 1}/${length}`)
}

/** Removes the files of a process that died; a file that another process is using is younger. */
function removeStaleFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat && stat.mtimeMs < Date.now() - staleMs) rmSync(path, { force: true })
  }
}

async function writeToFile(path: string, body: ReadableStream<Uint8Array>, declared: number): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    const length = await copy(body, file)
    if (length !== declared) throw new Error(`a response declared ${declared} bytes and had ${length}`)
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
