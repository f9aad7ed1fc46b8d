import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { htmlResponse } from '../../../api/pages/html-page.ts'
import type { Log } from '../../../base/observability/log.ts'
import { refuse } from '../../../base/refusal.ts'
import { etagOf, isNotModified } from '../etag.ts'
import { acceptedCoding, type Coding, codings } from './accept-encoding.ts'
import { type DashboardManifest, readManifest } from './manifest.ts'
import { pageHeaders } from './security-headers.ts'

/** Serves a file of the dashboard. @throws Refusal `not_found` for a method other than GET, and for an unknown asset */
export type StaticFiles = (request: Request, path: string) => Response

/** Where the built files are served; below are names alone. */
const assetsPath = '/app/assets/'

/** The bytes of a file, plain and compressed, each with its entity tag. */
interface ServedFile {
  readonly type: string
  readonly cacheControl: string
  readonly plain: Representation
  readonly compressed: ReadonlyMap<Coding, Representation>
}

interface Representation {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/** The names of the compressed files end so. */
const suffixes = { br: '.br', gzip: '.gz' } as const satisfies Record<Coding, string>

/**
 * Reads the built files into memory, once: a later build in the same folder does not change what this process serves. Each
 * path below /app that is no file gives the page, which knows its screens itself.
 * @param folder that of the manifest; without one, a page says how to build the files
 */
export function openStaticFiles(folder: string, log: Log): StaticFiles {
  const built = readBuild(folder, log)
  return (request, path) => {
    if (request.method !== 'GET')
      throw refuse('not_found', { message: 'There is only GET for the pages of the dashboard.' })
    if (!built) return notBuilt()
    if (!path.startsWith(assetsPath)) return serve(request, built.page)
    const file = built.assets.get(path.slice(assetsPath.length))
    if (!file) throw refuse('not_found', { message: 'There is no such file; reload the page.' })
    return serve(request, file)
  }
}

interface Build {
  readonly page: ServedFile
  readonly assets: ReadonlyMap<string, ServedFile>
}

function readBuild(folder: string, log: Log): Build | undefined {
  try {
    const manifest = readManifest(folder)
    if (!manifest) return undefined
    const read = (name: string, cacheControl: string) => readFile(folder, name, manifest, cacheControl)
    // The names of assets change with their content.
    const assets = Object.keys(manifest.files).map(
      name => [name, read(name, 'public, max-age=31536000, immutable')] as const,
    )
    return { page: read(manifest.index, 'no-store'), assets: new Map(assets) }
  } catch (error) {
    log.error(
      { err: error },
      'the files of the dashboard cannot be read: build them again, and start this process again',
    )
    return undefined
  }
}

function readFile(folder: string, name: string, { files }: DashboardManifest, cacheControl: string): ServedFile {
  const file = files[name]
  if (!file) throw new Error(`the manifest has no file ${name}`)
  const read = (suffix: string, expectedBytes: number): Representation => {
    const bytes = new Uint8Array(readFileSync(join(folder, name + suffix)))
    if (bytes.length !== expectedBytes) throw new Error(`${name + suffix} has ${bytes.length} bytes`)
    return { bytes, etag: etagOf(bytes) }
  }
  const compressed = codings.flatMap(coding => {
    const stored = file[coding]
    return stored ? [[coding, read(suffixes[coding], stored.bytes)] as const] : []
  })
  return { type: file.type, cacheControl, plain: read('', file.bytes), compressed: new Map(compressed) }
}

function serve(request: Request, file: ServedFile): Response {
  const coding = acceptedCoding(request.headers.get('accept-encoding'), [...file.compressed.keys()])
  const { bytes, etag } = (coding && file.compressed.get(coding)) ?? file.plain
  const headers = {
    ...pageHeaders,
    'cache-control': file.cacheControl,
    'content-type': file.type,
    vary: 'Accept-Encoding',
    etag,
    ...(coding && { 'content-encoding': coding }),
  }
  return isNotModified(request, etag) ? new Response(null, { status: 304, headers }) : new Response(bytes, { headers })
}

function notBuilt(): Response {
  const page = htmlResponse({
    status: 503,
    title: 'Mailroom',
    body: '<p>The dashboard has not been built: run <code>bun run dashboard:build</code> in the folder of Mailroom, and start it again.</p>',
  })
  page.headers.set('cache-control', 'no-store')
  return page
}
