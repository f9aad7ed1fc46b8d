import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { BunPlugin } from 'bun'
import { type LocatedSource, rootFolder, sourcesFolder, workerEntry } from './sources.ts'

/**
 * In the built program `import.meta.dir` is still the folder of the source, so that paths relative to it are right, and a
 * worker runs its built file. Both are found from the file that runs, below `build/program`: a build can be moved.
 */
export function locations(sources: readonly LocatedSource[]): BunPlugin {
  const paths = new Set(sources.map(({ path }) => path))
  return {
    name: 'locations',
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) =>
        paths.has(path) ? { contents: locate(readFileSync(path, 'utf8'), dirname(path)), loader: 'ts' } : undefined,
      )
    },
  }
}

const inCheckout = (path: string) =>
  `new URL('${path}', Bun.pathToFileURL(Bun.main.slice(0, Bun.main.lastIndexOf('/build/program/') + 1)))`

function locate(source: string, folder: string): string {
  const place = relative(sourcesFolder, folder)
  return source
    .replaceAll(workerEntry, (_, name: string) => inCheckout(`build/program/${place}/${name}.js`))
    .replaceAll('import.meta.dir', `Bun.fileURLToPath(${inCheckout(`src/${place}`)})`)
}

/** Its modules read their tables with a `require` that no bundler follows; the package's own bundle contains them. */
export const cssTree: BunPlugin = {
  name: 'css-tree',
  setup(build) {
    const path = Bun.resolveSync('css-tree/dist/csstree.esm', rootFolder)
    build.onResolve({ filter: /^css-tree$/ }, () => ({ path }))
  },
}

/** Several packages have a copy of it beside them, of the same version: half a megabyte of tables each. */
export const oneIconvLite: BunPlugin = {
  name: 'iconv-lite',
  setup(build) {
    const path = Bun.resolveSync('iconv-lite', dirname(Bun.resolveSync('libmime', rootFolder)))
    build.onResolve({ filter: /^iconv-lite$/ }, ({ importer }) => {
      const own = Bun.resolveSync('iconv-lite', dirname(importer))
      return { path: versionOf(own) === versionOf(path) ? path : own }
    })
  },
}

function versionOf(path: string): string {
  return JSON.parse(readFileSync(join(path.replace(/(\/node_modules\/iconv-lite\/).*/, '$1'), 'package.json'), 'utf8'))
    .version
}
