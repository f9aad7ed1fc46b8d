import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import {
  type BuiltFile,
  type DashboardManifest,
  dashboardFolder,
  readManifest,
  type StoredBytes,
} from '../../servers/http/dashboard/manifest.ts'
import { assetsPath, readFonts } from './fonts.ts'
import { sourcesFolder } from './paths.ts'
import { hashSources } from './sources.ts'
import { tailwind } from './tailwind.ts'

/** Below this, compressing a file gains nothing. */
const minCompressedBytes = 256

/**
 * Builds the dashboard into {@link dashboardFolder}: minified, split into a chunk for each screen, compressed. A process
 * that serves the files of an earlier build keeps them all in memory, so that they can be replaced under it.
 * @throws AggregateError with a message for each mistake in the sources
 */
export async function buildDashboard(): Promise<DashboardManifest> {
  const sourcesSha256 = hashSources()
  const fonts = readFonts()
  const outputs = await bundle(fonts.css)
  mkdirSync(dashboardFolder, { recursive: true })
  const before = readManifest()
  const stored = outputs.map(({ name, type, bytes }) => [name, store(name, type, bytes)] as const)
  const storedFonts = fonts.files.map(({ name, bytes }) => [name, store(name, 'font/woff2', bytes)] as const)
  const files = Object.fromEntries([...stored, ...storedFonts].sort(([a], [b]) => (a < b ? -1 : 1)))
  const index = Object.keys(files).find(name => name.endsWith('.html'))
  if (index === undefined) throw new Error('the build has no page')
  const manifest: DashboardManifest = { sources_sha256: sourcesSha256, index, files }
  const path = join(dashboardFolder, 'manifest.json')
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(manifest, null, 2))
  renameSync(`${path}.${process.pid}`, path)
  removeOldFiles([manifest, before])
  return manifest
}

interface Output {
  readonly name: string
  /** The value of Content-Type. */
  readonly type: string
  readonly bytes: Uint8Array
}

async function bundle(fontRules: string): Promise<readonly Output[]> {
  const naming = '[name]-[hash].[ext]'
  const { outputs } = await Bun.build({
    entrypoints: [join(sourcesFolder, 'index.html')],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    naming: { entry: naming, chunk: naming, asset: naming },
    publicPath: assetsPath,
    external: [`${assetsPath}*`],
    define: { 'process.env.NODE_ENV': '"production"' },
    env: 'disable',
    plugins: [tailwind(sourcesFolder, fontRules)],
  })
  return Promise.all(
    outputs.map(async output => ({
      name: output.path.replace(/^\.\//, ''),
      type: output.type.replace(';charset', '; charset'),
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  )
}

function store(name: string, type: string, bytes: Uint8Array): BuiltFile {
  const isFinal = name.endsWith('.woff2') || bytes.length < minCompressedBytes
  return {
    type,
    ...write(name, bytes),
    br: isFinal ? null : write(`${name}.br`, brotliCompressSync(bytes, brotliOptions)),
    gzip: isFinal ? null : write(`${name}.gz`, gzipSync(bytes, { level: 9 })),
  }
}

const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

function write(name: string, bytes: Uint8Array): StoredBytes {
  writeFileSync(join(dashboardFolder, name), bytes)
  return { bytes: bytes.length, sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex') }
}

/** Removes what neither build needs: a process may be reading the files of the build before. */
function removeOldFiles(manifests: readonly (DashboardManifest | null)[]): void {
  const kept = new Set(manifests.flatMap(manifest => Object.keys(manifest?.files ?? {})))
  for (const file of readdirSync(dashboardFolder)) {
    if (!kept.has(file.replace(/\.(?:br|gz)$/, '')) && !file.startsWith('manifest.json'))
      rmSync(join(dashboardFolder, file), { force: true })
  }
}
