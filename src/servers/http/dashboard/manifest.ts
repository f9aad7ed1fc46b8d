import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What is built of the dashboard: `manifest.json` in the folder of the built files (`build/dashboard`).
 *
 * ```json
 * {
 *   "sources_sha256": "9f86d081…",
 *   "index": "index-3kq2x9.html",
 *   "files": {
 *     "index-3kq2x9.html": {
 *       "type": "text/html; charset=utf-8", "bytes": 812, "sha256": "2c26b46b…",
 *       "br": { "bytes": 391, "sha256": "fcde2b2e…" }, "gzip": { "bytes": 447, "sha256": "…" }
 *     },
 *     "main-8zj1c0.js": { … },
 *     "inter-5d0a7f.woff2": { "type": "font/woff2", "bytes": 47000, "sha256": "…", "br": null, "gzip": null }
 *   }
 * }
 * ```
 *
 * `index` is served, with `Cache-Control: no-store`, for every page of the dashboard; each other file at
 * `/app/assets/<name>`, with `immutable`: its name changes with its content. Beside `<name>` are `<name>.br` and
 * `<name>.gz` where `br` and `gzip` are not null: the same file compressed. All hashes are lower-case hex.
 */
export interface DashboardManifest {
  /** Of what the files were built from: they are up to date when it equals that of the checkout. */
  readonly sources_sha256: string
  /** The name of the page. */
  readonly index: string
  readonly files: Readonly<Record<string, BuiltFile>>
}

/** A built file, by its name. */
export interface BuiltFile extends StoredBytes {
  /** The value of Content-Type. */
  readonly type: string
  /** Compressed with brotli in `<name>.br`; null: it would not get smaller. */
  readonly br: StoredBytes | null
  /** Compressed with gzip in `<name>.gz`; null: it would not get smaller. */
  readonly gzip: StoredBytes | null
}

/** A file on the disk. */
export interface StoredBytes {
  readonly bytes: number
  readonly sha256: string
}

/** Where the built files are, in a checkout as in an image. */
export const dashboardFolder = join(import.meta.dir, '../../../../build/dashboard')

/** The manifest of the built files in a folder; null: they have not been built. */
export function readManifest(folder = dashboardFolder): DashboardManifest | null {
  const path = join(folder, 'manifest.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}
