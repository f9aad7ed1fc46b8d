import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagesOf, readLicenses } from './licenses.ts'
import { cssTree, locations, oneIconvLite } from './plugins.ts'
import { findLocatedSources, rootFolder, sourcesFolder } from './sources.ts'

/** The files of the built program are where their sources are below `src`: `cli/cli.js`, and each worker. */
export const programFolder = join(rootFolder, 'build/program')

/** These packages are large and loaded only where they are needed: each becomes a file in a `node_modules` of the program. */
export const separatePackages = [
  '@aws-sdk/client-sesv2',
  '@aws-sdk/client-sqs',
  '@modelcontextprotocol/server',
  '@opentelemetry/exporter-trace-otlp-http',
  '@simplewebauthn/server',
  '@zxcvbn-ts/core',
  '@zxcvbn-ts/language-common',
  'acme-client',
  'age-encryption',
]

/** It serves files of its own, which stay where they are. */
const external = [...separatePackages, 'swagger-ui-dist']

const common = {
  target: 'bun',
  // In this format the bytecode is a file beside it.
  format: 'cjs',
  bytecode: true,
  env: 'disable',
  metafile: true,
} as const

/**
 * Builds the program: a file of `src/cli/cli.ts` with all that it imports, one of each worker and one of each separate
 * package, beside each its bytecode (`.jsc`). It starts in half the time, since a thousand files need not be found, read and
 * compiled, and needs no other packages than swagger-ui-dist. Nothing is minified, so that stack traces have the names of the
 * sources. The folder is replaced as a whole.
 * @throws AggregateError with a message for each mistake in the sources
 */
export async function buildProgram(): Promise<void> {
  const folder = `${programFolder}.${process.pid}`
  mkdirSync(folder, { recursive: true })
  try {
    const inputs = await buildSources(folder)
    for (const name of separatePackages) inputs.push(...(await buildPackage(name, folder)))
    writeFileSync(join(folder, 'licenses.txt'), readLicenses(packagesOf(inputs)))
    rmSync(programFolder, { recursive: true, force: true })
    renameSync(folder, programFolder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The files that went into it, relative to the current directory. */
async function buildSources(folder: string): Promise<string[]> {
  const located = findLocatedSources()
  const { metafile } = await Bun.build({
    ...common,
    entrypoints: [join(sourcesFolder, 'cli/cli.ts'), ...located.flatMap(({ workers }) => workers)],
    root: sourcesFolder,
    outdir: folder,
    external,
    plugins: [locations(located), cssTree, oneIconvLite],
  })
  return Object.keys(metafile?.inputs ?? {})
}

async function buildPackage(name: string, folder: string): Promise<string[]> {
  const entry = join(folder, 'entry.ts')
  writeFileSync(entry, `export * from '${name}'\n`)
  const outdir = join(folder, 'node_modules', name)
  const { metafile } = await Bun.build({ ...common, entrypoints: [entry], outdir, naming: 'index.[ext]' })
  rmSync(entry)
  return Object.keys(metafile?.inputs ?? {})
}
